import { keepText, keptText } from "@gatehouse/web-kit/page-storage.ts";

const nameOf = (owner: string) => `gatehouse.model.${owner}`;

/** The model that somebody chose last in this browser: a new conversation begins with it. */
export const lastModel = (owner: string): string | null => keptText("localStorage", nameOf(owner));

export const rememberModel = (owner: string, modelId: string): void => keepText("localStorage", nameOf(owner), modelId);
