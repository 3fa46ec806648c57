const LENGTH = 60;

/** What a conversation is called until somebody names it: how its first question begins, in whole letters. */
export const titleOf = (question: string): string => [...question.slice(0, 2 * LENGTH)].slice(0, LENGTH).join("");
