import { keepBrowserText, browserText } from "@gatehouse/web-kit/page-storage.ts";

const nameOf = (owner: string) => `gatehouse.model.${owner}`;

/** The model last chosen in this browser; new conversations start with it. */
export const lastModel = (owner: string): string | null => browserText("localStorage", nameOf(owner));

export const rememberModel = (owner: string, modelId: string): void => keepBrowserText("localStorage", nameOf(owner), modelId);
