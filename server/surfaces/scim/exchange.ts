import type { ScimCaller } from "../../directory/provisioning/scim-tokens.ts";
import type { Directory, Write } from "../../directory/writes/write.ts";
import type { Ignored } from "../../wire/scim/attributes.ts";
import { ScimError } from "../../wire/scim/scim-error.ts";

/** One request of an authenticated directory. */
export interface ScimExchange {
  readonly caller: ScimCaller;
  readonly directory: Directory;
  readonly request: Request;
  /** The ID after the resource type in the path. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  /** Base address of this API, as the directory reached it. */
  readonly base: string;
  readonly ignore: Ignored;
  /** The conditions of a change, and its description for the log. */
  readonly asked: () => { readonly method: string; readonly ignored: readonly string[]; readonly expects: (version: number) => boolean };
  body(): Promise<Record<string, unknown>>;
  write<T>(work: (write: Write) => Promise<T>): Promise<T>;
}

/** The response of an endpoint. */
export interface ScimAnswer {
  readonly status: number;
  readonly body?: Record<string, unknown>;
  /** Instead of `body`, for one too large to be built at once. */
  readonly pieces?: AsyncGenerator<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export const notAllowed = (allow: string) => new ScimError(405, `This address answers ${allow}.`, undefined, { allow });
