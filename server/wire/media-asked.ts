/** Pictures asked for: how many, and the most tokens one may come to, which no request can bound. */
export interface Pictures {
  readonly count: number;
  readonly tokensEach: number;
  /** Those that came along to be changed, and what else is in the request, bytes. */
  readonly shown?: { readonly count: number; readonly textBytes: number };
  /** What prices of pictures go by, as far as it was said. */
  readonly asked?: { readonly quality: string | null; readonly size: string | null };
}

/** A video asked for. */
export interface AskedVideo {
  /** Null where its caller leaves it to the provider. */
  readonly seconds: number | null;
  readonly resolution: string | null;
  /** What is in the request beside a file that came along, bytes; null where all of it is. */
  readonly textBytes: number | null;
}

/** Sound that comes along to be heard. */
export interface Sound {
  /** Null where the file does not tell how long it plays. */
  readonly seconds: number | null;
  /** What else is in the request, bytes. */
  readonly textBytes: number;
}

/** What a request for media asks, under the names by which governance of media bounds it. */
export interface MediaAsked {
  /** Held to `<name>_whitelist`. */
  readonly choices: Readonly<Record<string, MediaChoice>>;
  /** Held to `max_<name>`, and the speed to `speed_min` too. Null where it cannot be told. */
  readonly measures: Readonly<Record<string, MediaMeasure>>;
  /** Held to `require_<name>`. */
  readonly brings: Readonly<Record<string, { readonly field: string; readonly there: boolean }>>;
}

interface MediaChoice {
  /** What the caller's format calls it. */
  readonly field: string;
  /** Null where the caller did not say. */
  readonly value: string | null;
  /** Says it for a caller who did not: left out where it means nothing then, null where only the caller can say it. */
  readonly choose?: ((value: string) => void) | null;
  /** What is chosen first, if it may be. */
  readonly usual?: string;
  /** Whether two values say the same in other words. */
  readonly same?: (one: string, other: string) => boolean;
}

interface MediaMeasure {
  readonly field: string;
  readonly value: number | null;
}
