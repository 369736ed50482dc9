// A sentence of an answer beside the passage that it cites.

import { statement } from "../statement.js";

export const view = (task, setup, hooks) =>
  statement(task, hooks, {
    above: "A sentence of an answer, which cites the text below",
    legend: "Does the text bear the sentence out?",
    options: [
      { value: "full", text: "Yes, all of it", key: "1" },
      { value: "partial", text: "In part", key: "2" },
      { value: "none", text: "No", means: "the text does not say it", key: "3" },
      { value: "against", text: "It says the contrary", key: "4" },
    ],
  });
