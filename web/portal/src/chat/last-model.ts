const nameOf = (owner: string) => `gatehouse.model.${owner}`;

/** The model that somebody chose last in this browser: a new conversation begins with it. */
export function lastModel(owner: string): string | null {
  try {
    return localStorage.getItem(nameOf(owner));
  } catch {
    return null;
  }
}

export function rememberModel(owner: string, modelId: string): void {
  try {
    localStorage.setItem(nameOf(owner), modelId);
  } catch {
    // Without storage the next conversation begins with the first model.
  }
}
