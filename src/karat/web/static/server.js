// Talking to the server: questions are asked at once; what a judge said goes through a queue that outlives the page.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const token = () => document.querySelector('meta[name="csrf"]').content;

async function call(method, path, body) {
  const options = { method, headers: { Accept: "application/json" }, credentials: "same-origin" };
  if (method !== "GET") {
    options.headers["X-CSRF-Token"] = token();
    options.headers["Content-Type"] = "application/json";
    // Half a character, as some keyboards and pages leave it, would be refused.
    options.body = JSON.stringify(body || {}, (_, value) => (typeof value === "string" && value.toWellFormed ? value.toWellFormed() : value));
  }
  const reply = await fetch(path, options);
  const text = await reply.text();
  let data = {};
  try {
    data = text ? JSON.parse(text) : {};
  } catch {
    data = { detail: "the server's answer could not be read" };
  }
  if (!reply.ok) {
    const detail = typeof data.detail === "string" ? data.detail : "the request was not understood";
    throw new Refused(reply.status, detail);
  }
  return data;
}

export const ask = (path) => call("GET", path);
export const tell = (path, body) => call("POST", path, body);

/** A key that makes an answer sent twice count once. Not crypto.randomUUID: it is missing on plain http. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const WAITS = [1, 2, 4, 8, 15];
// What the server fails on so often is set aside, or nothing after it would ever be sent.
const PATIENCE = 5;

/** What was said and not yet acknowledged, in order, kept in the browser until the server has it. */
export class Outbox {
  constructor(owner, { changed, taken, refused }) {
    this.name = `karat-outbox-${owner}`;
    this.changed = changed;
    this.taken = taken;
    this.refused = refused;
    this.tries = 0;
    this.running = null;
    this.timer = null;
    window.addEventListener("online", () => this.flush());
  }

  get items() {
    try {
      return JSON.parse(localStorage.getItem(this.name)) || [];
    } catch {
      return [];
    }
  }

  set items(items) {
    localStorage.setItem(this.name, JSON.stringify(items));
    this.changed(items.length, this.tries > 0);
  }

  /** Say again how it stands. */
  tell() {
    this.changed(this.items.length, this.tries > 0);
  }

  add(path, body) {
    const item = { id: newKey(), path, body };
    this.items = [...this.items, item];
    return this.flush();
  }

  /** Send all there is, oldest first; true when nothing is left. */
  flush() {
    clearTimeout(this.timer);
    if (!this.running) {
      this.running = this.#send().then((empty) => {
        this.running = null;
        // Something may have come in while the last reply was read.
        return empty && this.items.length ? this.flush() : empty;
      });
    }
    return this.running;
  }

  async #send() {
    while (this.items.length) {
      const item = this.items[0];
      try {
        const reply = await tell(item.path, item.body);
        this.tries = 0;
        this.#shift(item);
        this.taken(item, reply);
      } catch (error) {
        const again = !(error instanceof Refused) || error.status >= 500 || error.status === 429 || error.status === 401;
        if (error instanceof Refused && error.status === 500 && this.#failed(item) >= PATIENCE) {
          this.tries = 0;
          this.#shift(item);
          this.refused(item, new Refused(500, "the server fails on it; it is set aside in this browser, and you can go on"));
          this.#aside(item);
        } else if (again) {
          const wait = WAITS[Math.min(this.tries, WAITS.length - 1)];
          this.tries += 1;
          this.changed(this.items.length, true, error);
          this.timer = setTimeout(() => this.flush(), wait * 1000);
          return false;
        } else {
          this.#shift(item);
          this.refused(item, error);
        }
      }
    }
    this.changed(0, false);
    return true;
  }

  /** Count that the server failed on an item; how often it did. */
  #failed(item) {
    const failed = (item.failed || 0) + 1;
    this.items = this.items.map((other) => (other.id === item.id ? { ...other, failed } : other));
    return failed;
  }

  // Kept for whoever looks into it; not sent again.
  #aside(item) {
    const name = `${this.name}-aside`;
    localStorage.setItem(name, JSON.stringify([...(JSON.parse(localStorage.getItem(name)) || []), item].slice(-50)));
  }

  // Another tab may have sent it too: only what was sent is taken out.
  #shift(item) {
    this.items = this.items.filter((other) => other.id !== item.id);
  }
}
