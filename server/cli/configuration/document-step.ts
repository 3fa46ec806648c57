import type { Names } from "./names.ts";
import type { ConfigEntry, ConfigValue } from "./value.ts";

/** One document that is replaced as a whole: a tenant's settings, its notice, the limits of a group. */
export interface DocumentStep {
  readonly about: string;
  readonly before: ConfigValue;
  readonly after: ConfigValue;
  /** Whether a secret is all that differs: it is not shown. */
  readonly isSecretAlone?: boolean;
  /** False where only writing it tells whether that secret is another. */
  readonly isSeen?: boolean;
  /** When it was last changed, of such a one. */
  readonly updatedAt?: ConfigValue | undefined;
  /** Writes it, once everything it names is there. */
  send(names: Names): Promise<ConfigEntry>;
}
