/** Request headers as far as they are read by name. */
export type NamedHeaders = Pick<Headers, "get">;

/** A copy of a request's headers, because reading one from the platform costs more than reading all at once. */
export class RequestHeaders implements NamedHeaders {
  /** By lower-case name. */
  readonly all: Readonly<Record<string, string>>;

  constructor(headers: Headers) {
    // Not every platform can return them all at once.
    const { toJSON } = headers as { toJSON?: () => Record<string, string> };
    const all = toJSON === undefined ? Object.fromEntries(headers) : toJSON.call(headers);
    // Not a request header, and the only one whose value may be a list.
    if ("set-cookie" in all) delete all["set-cookie"];
    this.all = all;
  }

  /** `name` may be in any case. Null if there is no such header. */
  get(name: string): string | null {
    const value: unknown = this.all[name.toLowerCase()];
    // Inherited object members are not headers.
    return typeof value === "string" ? value : null;
  }
}

/** Those of the named headers that are present, under the names as given. */
export function headersNamed(names: readonly string[], from: NamedHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) headers[name] = value;
  }
  return headers;
}
