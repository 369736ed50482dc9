// A fact that a good answer has, beside an answer.

import { statement } from "../statement.js";

export const view = (task, setup, hooks) =>
  statement(task, hooks, {
    above: "A fact that a good answer has",
    legend: "Is it in the answer below?",
    options: [
      { value: "full", text: "Yes, all of it", key: "1" },
      { value: "partial", text: "In part", key: "2" },
      { value: "none", text: "No", key: "3" },
    ],
  });
