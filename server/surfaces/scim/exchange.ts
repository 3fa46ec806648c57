import type { ScimCaller } from "../../directory/provisioning/scim-tokens.ts";
import type { Directory, Write } from "../../directory/writes/write.ts";
import type { Ignored } from "../../wire/scim/attributes.ts";
import { ScimError } from "../../wire/scim/scim-error.ts";

/** One request of a directory that has shown who it is. */
export interface ScimExchange {
  readonly caller: ScimCaller;
  readonly directory: Directory;
  readonly request: Request;
  /** Of what follows the name of the resource type. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  /** Address of this interface, as the directory reached it. */
  readonly base: string;
  readonly ignore: Ignored;
  /** What the change is held to, and what it says of itself. */
  readonly asked: () => { readonly method: string; readonly ignored: readonly string[]; readonly expects: (version: number) => boolean };
  body(): Promise<Record<string, unknown>>;
  write<T>(work: (write: Write) => Promise<T>): Promise<T>;
}

/** What an endpoint answers with. */
export interface ScimAnswer {
  readonly status: number;
  readonly body?: Record<string, unknown>;
  /** In the place of a body that is too large to be made at one go. */
  readonly pieces?: AsyncGenerator<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export const notAllowed = (allow: string) => new ScimError(405, `This address answers ${allow}.`, undefined, { allow });
