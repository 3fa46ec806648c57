import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { NamedTenants } from "../../directory/named-tenants.ts";
import { type Clock, isoMicros } from "../../kernel/clock.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import type { Log } from "../../kernel/log.ts";
import type { CallLedger } from "../../ledger/ledger.ts";
import type { Call } from "../call.ts";
import type { RefusedCredentials } from "./refused-credentials.ts";

export interface UnauthenticatedCallsParts {
  readonly tenants: NamedTenants;
  readonly refused: Pick<RefusedCredentials, "note">;
  readonly ledger: CallLedger;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls of one address within a minute that have a row each. */
  readonly rowsPerMinute: number;
}

/** What one address did within a minute. */
interface Place {
  calls: number;
  /** The rows that tell of the calls past the bound, by the tenant that they name. */
  readonly told: Map<string | null, Told>;
}

interface Told {
  readonly row: AuditRow;
  calls: number;
  last: number;
}

const MINUTE_MS = 60_000;
const MICROS = 1_000;
/** Addresses beyond so many in one minute are counted as one: whoever sends from all of them must not fill the memory. */
const MAX_PLACES = 10_000;
const ELSEWHERE = "elsewhere";
/** Tenants of which one address has rows within a minute; what names others is told as naming none. */
const MAX_TENANTS = 16;

/** Decides what calls without a valid credential leave on the record, and how much of it. */
export class UnauthenticatedCalls {
  private places = new Map<string, Place>();
  private minute = 0;
  private asking = false;
  private readonly parts: UnauthenticatedCallsParts;

  constructor(parts: UnauthenticatedCallsParts) {
    this.parts = parts;
  }

  /** Files the call of a stranger under the tenant it names, where it is nobody's yet and there is such a tenant. */
  async file(call: Call): Promise<void> {
    if (call.row.tenant_id == null) call.row.tenant_id = await this.named(call);
  }

  /** A call was refused for its credential: its tenant, if it has one, may want to know. */
  refused({ row }: Call): void {
    if (row.tenant_id != null) this.parts.refused.note(row.tenant_id);
  }

  /** Null for a call that is to have a row of its own, else what it is answered with: then it has none. */
  turnAway(call: Call): Refusal | null {
    const now = this.parts.clock.now();
    this.turn(now);
    const address = this.places.has(networkOf(call.ip)) || this.places.size < MAX_PLACES ? networkOf(call.ip) : ELSEWHERE;
    let place = this.places.get(address);
    if (place === undefined) this.places.set(address, (place = { calls: 0, told: new Map() }));
    place.calls++;
    if (place.calls <= this.parts.rowsPerMinute) return null;
    const tenantId = call.row.tenant_id ?? this.knownTenant(call);
    if (tenantId !== null) this.parts.refused.note(tenantId);
    const teller = place.told.has(tenantId) || place.told.size < MAX_TENANTS ? tenantId : null;
    let told = place.told.get(teller);
    if (told === undefined) place.told.set(teller, (told = this.begin(call, address, teller)));
    told.calls++;
    told.last = now;
    return refuse("too_many_strangers", undefined, {
      headers: { "retry-after": String(Math.ceil(((this.minute + 1) * MINUTE_MS - now) / 1000)) },
    });
  }

  /** Writes the rows of minutes that are over; `all`: of the one under way as well. Resolves when they are stored. */
  async write(all?: "all"): Promise<void> {
    const minute = Math.floor(this.parts.clock.now() / MINUTE_MS);
    if (all === "all" || minute !== this.minute) await this.tell(this.replaced(minute));
  }

  private turn(now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === this.minute) return;
    this.tell(this.replaced(minute)).catch((error: Error) => this.parts.log.error("row_not_sealed", { error }));
  }

  private replaced(minute: number): Map<string, Place> {
    const { places } = this;
    this.places = new Map();
    this.minute = minute;
    return places;
  }

  private async tell(places: Map<string, Place>): Promise<void> {
    await Promise.all(
      places
        .values()
        .flatMap(({ told }) => told.values())
        .map(({ row, calls, last }) => {
          row.custom_metadata = { calls, from: row.timestamp, until: isoMicros(last * MICROS) };
          return this.parts.ledger.seal(row);
        }),
    );
  }

  /** Its begin marker is written at once: a process that is killed must not have turned calls away without a trace. */
  private begin(call: Call, address: string, tenantId: string | null): Told {
    const micros = this.parts.clock.micros();
    const row: AuditRow = {
      id: ulid(Math.floor(micros / MICROS)),
      tenant_id: tenantId,
      timestamp: isoMicros(micros),
      proxy_type: call.audit.proxyType,
      proxy_subtype: "strangers",
      client_ip: address === ELSEWHERE ? null : address.includes(":") ? `${address}::/64` : address,
      http_status_code: 429,
      success: false,
      error_type: "too_many_strangers",
      is_auth_event: true,
      source: "gateway",
    };
    this.parts.ledger.begin(row);
    return { row, calls: 0, last: 0 };
  }

  /** As far as it is known without waiting. One name at a time is asked about, so that nobody can have the database asked at will. */
  private knownTenant(call: Call): string | null {
    const id = call.headers.get("x-tenant-id");
    if (id === null) return null;
    const known = this.parts.tenants.known(id);
    if (known === undefined && !this.asking) {
      this.asking = true;
      void this.named(call).finally(() => (this.asking = false));
    }
    return known === true ? id : null;
  }

  private async named(call: Call): Promise<string | null> {
    const id = call.headers.get("x-tenant-id");
    if (id === null) return null;
    // While the database is away nobody knows, and the row must be written all the same.
    return (await Promise.resolve(this.parts.tenants.exist(id)).catch(() => false)) ? id : null;
  }
}
