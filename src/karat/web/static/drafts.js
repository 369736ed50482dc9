// What is half said survives a reload of the page, until it is sent.

const place = (id) => `karat-draft-${id}`;

export const keepDraft = (id, draft) => sessionStorage.setItem(place(id), JSON.stringify(draft));
export const dropDraft = (id) => sessionStorage.removeItem(place(id));

export function draftOf(id) {
  try {
    return JSON.parse(sessionStorage.getItem(place(id)));
  } catch {
    return null;
  }
}
