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
  /** Calls of one address per minute that get a row each. */
  readonly rowsPerMinute: number;
}

/** The calls of one address within the current minute. */
interface Place {
  calls: number;
  /** Summary rows for the calls past the limit, by the tenant they named. */
  readonly tellers: Map<string | null, TellerCounts>;
}

interface TellerCounts {
  readonly row: AuditRow;
  calls: number;
  last: number;
}

const MINUTE_MS = 60_000;
const MICROS = 1_000;
/** Addresses past this number in one minute are counted together, so that a distributed sender cannot fill the memory. */
const MAX_PLACES = 10_000;
const ELSEWHERE = "elsewhere";
/** Tenants for which one address gets summary rows within a minute; further ones share the row without a tenant. */
const MAX_TENANTS = 16;

/** Decides which rows calls without a valid credential leave, and bounds their number. */
export class UnauthenticatedCalls {
  private places = new Map<string, Place>();
  private minute = 0;
  private asking = false;
  private readonly parts: UnauthenticatedCallsParts;

  constructor(parts: UnauthenticatedCallsParts) {
    this.parts = parts;
  }

  /** Assigns a call that entered no tenant to the one it names, if that exists. A tenant with a compliance profile has tags on every row. */
  async file({ row, headers }: Call): Promise<void> {
    row.tenant_id ??= await this.named(headers);
    row.compliance_tags = await this.tagsUnder(row.tenant_id);
  }

  /** Counts a refused credential against the call's tenant, if it has one, to alert its administrators. */
  refused({ row }: Call): void {
    if (row.tenant_id != null) this.parts.refused.note(row.tenant_id);
  }

  /** Null if the call gets a row of its own; else the refusal for a call that gets none. */
  turnAway(call: Call): Refusal | null {
    const now = this.parts.clock.now();
    this.turn(now);
    const address = this.places.has(networkOf(call.ip)) || this.places.size < MAX_PLACES ? networkOf(call.ip) : ELSEWHERE;
    let place = this.places.get(address);
    if (place === undefined) this.places.set(address, (place = { calls: 0, tellers: new Map() }));
    place.calls++;
    if (place.calls <= this.parts.rowsPerMinute) return null;
    const tenantId = call.row.tenant_id ?? this.knownTenant(call);
    if (tenantId !== null) this.parts.refused.note(tenantId);
    const teller = place.tellers.has(tenantId) || place.tellers.size < MAX_TENANTS ? tenantId : null;
    let counts = place.tellers.get(teller);
    if (counts === undefined) place.tellers.set(teller, (counts = this.begin(call, address, teller)));
    counts.calls++;
    counts.last = now;
    return refuse("too_many_strangers", undefined, {
      headers: { "retry-after": String(Math.ceil(((this.minute + 1) * MINUTE_MS - now) / 1000)) },
    });
  }

  /** Writes the summary rows of past minutes; with `all` also those of the current one. Resolves when they are stored. */
  async write(all?: "all"): Promise<void> {
    const minute = Math.floor(this.parts.clock.now() / MINUTE_MS);
    if (all === "all" || minute !== this.minute) await this.writeSummaries(this.replaced(minute));
  }

  private turn(now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === this.minute) return;
    this.writeSummaries(this.replaced(minute)).catch((error: Error) => this.parts.log.error("row_not_sealed", { error }));
  }

  private replaced(minute: number): Map<string, Place> {
    const { places } = this;
    this.places = new Map();
    this.minute = minute;
    return places;
  }

  private async writeSummaries(places: Map<string, Place>): Promise<void> {
    await Promise.all(
      places
        .values()
        .flatMap(({ tellers }) => tellers.values())
        .map(({ row, calls, last }) => {
          row.custom_metadata = { calls, from: row.timestamp, until: isoMicros(last * MICROS) };
          return this.parts.ledger.seal(row);
        }),
    );
  }

  /** The begin marker is written at once, so that calls turned away leave a trace even if the process is killed. */
  private begin(call: Call, address: string, tenantId: string | null): TellerCounts {
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
      compliance_tags: tenantId !== null && this.parts.tenants.knownProfile(tenantId) ? [] : null,
      source: "gateway",
    };
    this.parts.ledger.begin(row);
    return { row, calls: 0, last: 0 };
  }

  /** The tenant named, if known without waiting. Looks up one name at a time, so that strangers cannot cause database load at will. */
  private knownTenant(call: Call): string | null {
    const id = call.headers.get("x-tenant-id");
    if (id === null) return null;
    const known = this.parts.tenants.known(id);
    if (known === undefined && !this.asking) {
      this.asking = true;
      void this.named(call.headers).finally(() => (this.asking = false));
    }
    return known === true ? id : null;
  }

  private async named(headers: Call["headers"]): Promise<string | null> {
    const id = headers.get("x-tenant-id");
    if (id === null) return null;
    // If the database is unreachable the row must be written all the same.
    return (await Promise.resolve(this.parts.tenants.exist(id)).catch(() => false)) ? id : null;
  }

  private async tagsUnder(tenantId: string | null): Promise<string[] | null> {
    if (tenantId === null) return null;
    return (await Promise.resolve(this.parts.tenants.hasProfile(tenantId)).catch(() => false)) ? [] : null;
  }
}
