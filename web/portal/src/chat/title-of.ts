const LENGTH = 60;

/** The default title: the beginning of the first question, cut at whole characters. */
export const titleOf = (question: string): string => [...question.slice(0, 2 * LENGTH)].slice(0, LENGTH).join("");
