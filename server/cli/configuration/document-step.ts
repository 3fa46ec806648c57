import type { Names } from "./names.ts";
import type { ConfigEntry, ConfigValue } from "./value.ts";

/** A document that is replaced as a whole: a tenant's settings, its notice, the limits of a group. */
export interface DocumentStep {
  readonly about: string;
  readonly before: ConfigValue;
  readonly after: ConfigValue;
  /** Whether only a secret, which is not shown, differs. */
  readonly isSecretAlone?: boolean;
  /** False if only writing it tells whether that secret differs. */
  readonly isSeen?: boolean;
  /** When such a document was last changed. */
  readonly updatedAt?: ConfigValue | undefined;
  /** Writes it; everything it refers to must exist. */
  send(names: Names): Promise<ConfigEntry>;
}
