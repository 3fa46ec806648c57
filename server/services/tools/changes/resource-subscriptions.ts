/** What a session's server was asked to tell of one resource, for as long as anybody listens to it there. */
export interface ResourceSubscription {
  listeners: number;
  /** Whether it tells, once everything that was asked of it has been answered. */
  told: Promise<boolean>;
}

export type ResourceSubscriptions = Map<string, ResourceSubscription>;

/** Asks the server; resolves with whether it took it, and never rejects. */
export type AskSubscription = (method: "resources/subscribe" | "resources/unsubscribe", uri: string) => Promise<boolean>;

/** Counts a listener, and asks for the first. Resolves with whether the server tells of the resource. */
export function subscribe(subscriptions: ResourceSubscriptions, uri: string, ask: AskSubscription): Promise<boolean> {
  const there = subscriptions.get(uri) ?? { listeners: 0, told: Promise.resolve(false) };
  subscriptions.set(uri, there);
  // Behind what was asked before: a server may answer one request before another that came earlier.
  if (++there.listeners === 1) there.told = there.told.then(() => ask("resources/subscribe", uri));
  return there.told;
}

/** Lets a listener go, and asks for no more when it was the last. To be called once for each that was counted. */
export function unsubscribe(subscriptions: ResourceSubscriptions, uri: string, ask: AskSubscription): void {
  const there = subscriptions.get(uri);
  if (there === undefined || --there.listeners > 0) return;
  const ended = there.told.then(async (told) => {
    // Somebody may have come while the server had yet to answer.
    if (told && there.listeners === 0) await ask("resources/unsubscribe", uri);
    return false;
  });
  there.told = ended;
  void ended.then(() => {
    if (there.told === ended) subscriptions.delete(uri);
  });
}
