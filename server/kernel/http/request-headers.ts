/** What of a request's headers is looked at by name. */
export type NamedHeaders = Pick<Headers, "get">;

/** The headers of a request, taken out once: asking the platform for one costs more than asking for all. */
export class RequestHeaders implements NamedHeaders {
  /** By lower-case name. */
  readonly all: Readonly<Record<string, string>>;

  constructor(headers: Headers) {
    // Not every platform hands them all out at once.
    const { toJSON } = headers as { toJSON?: () => Record<string, string> };
    const all = toJSON === undefined ? Object.fromEntries(headers) : toJSON.call(headers);
    // Nothing a request says, and the one header that may be a list.
    if ("set-cookie" in all) delete all["set-cookie"];
    this.all = all;
  }

  /** In whatever case `name` is written. Null when it is not there. */
  get(name: string): string | null {
    const value: unknown = this.all[name.toLowerCase()];
    // What every object has is no header.
    return typeof value === "string" ? value : null;
  }
}

/** Those of the named headers that are there, under the names as given. */
export function headersNamed(names: readonly string[], from: NamedHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) headers[name] = value;
  }
  return headers;
}
