/** One place where the requests or answers of the two gateways differ. A missing value is undefined. */
export interface Difference {
  /** Path of member names and indexes, for example `messages.0.content`. */
  readonly at: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

const isBranch = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** All leaves that differ; a member that one side lacks counts as one difference, however large it is. */
export function differences(ours: unknown, theirs: unknown, at = ""): Difference[] {
  if (isBranch(ours) && isBranch(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...names].flatMap((name) => differences(ours[name], theirs[name], at === "" ? name : `${at}.${name}`));
  }
  return Object.is(ours, theirs) ? [] : [{ at, ours, theirs }];
}

/** A stream reassembled as a client would, plus how it begins and ends. */
export function folded(text: string): unknown {
  const frames = text
    .split(/\r?\n\r?\n/)
    .map((frame) =>
      frame
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trim())
        .join("\n"),
    )
    .filter((data) => data !== "");
  const closed = frames.at(-1) === "[DONE]";
  const events = frames.filter((data) => data !== "[DONE]").map((data) => JSON.parse(data) as Record<string, any>);
  return events[0]?.object === "chat.completion.chunk" ? foldedChat(events, closed) : { closed, events };
}

function foldedChat(chunks: readonly Record<string, any>[], closed: boolean): unknown {
  const message: Record<string, unknown> = {};
  const calls: Record<string, any>[] = [];
  let finish: unknown = null;
  for (const { delta = {}, finish_reason } of chunks.flatMap(({ choices }) => choices ?? [])) {
    if (delta.role !== undefined) message.role = delta.role;
    if (typeof delta.content === "string") message.content = `${message.content ?? ""}${delta.content}`;
    for (const { index = 0, id, function: called = {} } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id, name: called.name, arguments: "" });
      call.arguments += called.arguments ?? "";
    }
    finish = finish_reason ?? finish;
  }
  const usages = chunks.filter(({ usage }) => usage != null);
  return { first: Object.keys(chunks[0] ?? {}).sort(), message, calls, finish, usage: usages.at(-1)?.usage ?? null, closed };
}
