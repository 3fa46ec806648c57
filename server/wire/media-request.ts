/** The number of images requested, and the maximum tokens of one image, which requests cannot limit. */
export interface Pictures {
  readonly count: number;
  readonly tokensEach: number;
  /** Number of input images to edit, and the size of the rest of the request in bytes. */
  readonly shown?: { readonly count: number; readonly textBytes: number };
  /** The settings that determine the price of an image, as far as given. */
  readonly asked?: { readonly quality: string | null; readonly size: string | null };
}

/** A requested video. */
export interface ReferencedVideo {
  /** Null if left to the provider. */
  readonly seconds: number | null;
  readonly resolution: string | null;
  /** Size of the request without uploaded files, in bytes; null if there are none. */
  readonly textBytes: number | null;
}

/** Uploaded audio to be transcribed. */
export interface AudioInput {
  /** Null if the duration cannot be read from the file. */
  readonly seconds: number | null;
  /** Size of the rest of the request, in bytes. */
  readonly textBytes: number;
}

/** The media settings of a request, under the names that media governance uses to limit them. */
export interface MediaRequest {
  /** Checked against `<name>_whitelist`. */
  readonly choices: Readonly<Record<string, MediaChoice>>;
  /** Checked against `max_<name>`; the speed also against `speed_min`. Null if unknown. */
  readonly measures: Readonly<Record<string, MediaMeasure>>;
  /** Checked against `require_<name>`. */
  readonly brings: Readonly<Record<string, { readonly field: string; readonly there: boolean }>>;
}

interface MediaChoice {
  /** The field name in the caller's format. */
  readonly field: string;
  /** Null if not set by the caller. */
  readonly value: string | null;
  /** Sets a value that the caller left out. Absent if the field has no meaning here; null if only the caller can set it. */
  readonly choose?: ((value: string) => void) | null;
  /** The preferred choice, if allowed. */
  readonly usual?: string;
  /** Whether two values are equivalent. */
  readonly same?: (one: string, other: string) => boolean;
}

interface MediaMeasure {
  readonly field: string;
  readonly value: number | null;
}
