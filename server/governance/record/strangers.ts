import type { NamedTenants } from "../../directory/named-tenants.ts";
import type { Call } from "../call.ts";
import type { RefusedCredentials } from "./refused-credentials.ts";

export interface StrangersParts {
  readonly tenants: Pick<NamedTenants, "exist">;
  readonly refused: Pick<RefusedCredentials, "note">;
}

/** Callers without a good credential, and whose record their calls are filed in. */
export class Strangers {
  private readonly parts: StrangersParts;

  constructor(parts: StrangersParts) {
    this.parts = parts;
  }

  /** Of a call that was refused for its credential: files it under the tenant of that, or else under the one it names. */
  async file(call: Call): Promise<void> {
    call.row.tenant_id ??= await this.named(call);
    if (call.row.tenant_id !== null) this.parts.refused.note(call.row.tenant_id);
  }

  private async named(call: Call): Promise<string | null> {
    const id = call.headers.get("x-tenant-id");
    if (id === null) return null;
    // While the database is away nobody knows, and the row must be written all the same.
    return (await Promise.resolve(this.parts.tenants.exist(id)).catch(() => false)) ? id : null;
  }
}
