import type { UsageFigures, UsageReconciled, UsageReconciliation } from "@gatehouse/contracts/usage-import";
import { invalidFields } from "../../kernel/errors.ts";
import { textOfNano, unitsOfNano } from "../../kernel/nano-money.ts";
import type { Database, Trx } from "../../store/database.ts";
import { gatewayFigures, type GatewayFigures } from "../../store/usage/gateway-usage-figures.ts";
import { vendorFigures, type VendorFigures } from "../../store/usage/usage-import-buckets.ts";
import { allMappings } from "../../store/usage/usage-import-mappings.ts";
import { type Compared, type Sums, allTokens } from "./compared-usage.ts";
import { explainDifference } from "./explain-difference.ts";
import { getImportProvider } from "./import-settings.ts";
import { IMPORT_LAGS_MS } from "./import-vendors.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 100;
const NANO_PER_MICRO = 1_000n;

const none = (): Sums => ({ requests: null, input: 0, output: 0, cost: 0n, hasCost: false });

function add(sums: Sums, more: Sums): void {
  if (more.requests !== null) sums.requests = (sums.requests ?? 0) + more.requests;
  sums.input += more.input;
  sums.output += more.output;
  sums.cost += more.cost;
  sums.hasCost ||= more.hasCost;
}

const shown = ({ requests, input, output, cost, hasCost }: Sums): UsageFigures => ({
  requests,
  input_tokens: input,
  output_tokens: output,
  cost_usd: hasCost ? unitsOfNano(cost) : null,
});

function ofVendor(row: VendorFigures): Sums {
  const dollars = row.currency === null || row.currency === "usd";
  return {
    requests: row.requests,
    input: row.input_tokens,
    output: row.output_tokens,
    cost: dollars ? BigInt(row.cost_nano) : 0n,
    hasCost: row.has_cost && dollars,
  };
}

/** Days whose figures the vendor may still change or add. They are compared, but excluded from the totals of both sides. */
function unsettledDays(vendor: readonly VendorFigures[], gateway: readonly GatewayFigures[], completeBefore: number): ReadonlySet<string> {
  const reportedDays = new Set(vendor.map(({ day }) => day));
  const untold = gateway.filter(({ day }) => !reportedDays.has(day) && Date.parse(day) + DAY_MS > completeBefore);
  return new Set([...vendor.filter(({ provisional }) => provisional), ...untold].map(({ day }) => day));
}

const ofGateway = (row: GatewayFigures): Sums => ({
  requests: row.requests,
  input: row.input_tokens,
  output: row.output_tokens,
  cost: BigInt(row.cost_micros) * NANO_PER_MICRO,
  hasCost: row.requests > row.unpriced,
});

export interface ReconciledSpan {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly by: "day" | "model" | "key";
}

/** Compares the vendor's figures with the gateway's rows and explains each difference as far as possible. */
export async function reconcileUsage(
  db: Database | Trx,
  tenantId: string,
  providerId: string,
  requestedSpan: ReconciledSpan,
  now: Date,
): Promise<UsageReconciliation> {
  const provider = await getImportProvider(db, tenantId, providerId);
  const to = requestedSpan.to ?? now.toISOString().slice(0, 10);
  const from = requestedSpan.from ?? new Date(Date.parse(to) - 30 * DAY_MS).toISOString().slice(0, 10);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  if (!(Date.parse(from) >= 0)) throw invalidFields("invalid_query", [{ field: "from", message: "must not be before 1970" }]);
  if (days <= 0 || days > MAX_DAYS)
    throw invalidFields("invalid_query", [{ field: "from", message: `must be 1 to ${MAX_DAYS} days before to` }]);
  const span = { tenantId, providerId, from, to };
  const vendor = await vendorFigures(db, span);
  const gateway = await gatewayFigures(db, span);
  const lagMs = provider.vendor === null ? 0 : IMPORT_LAGS_MS[provider.vendor];
  const unsettled = unsettledDays(vendor, gateway, now.getTime() - lagMs);
  const mappings = await allMappings(db, tenantId, providerId);
  const mapped = new Map(mappings.map((one) => [`${one.kind} ${one.vendor_id}`, one]));

  const places = new Map<string, Compared>();
  const totals = { vendor: none(), gateway: none(), provisional: 0n };
  const place = (day: string, model: string | null, key: string | null): Compared => {
    const at = { day, model: requestedSpan.by === "model" ? model : null, key: requestedSpan.by === "key" ? key : null };
    const name = JSON.stringify(at);
    const nothing = () => ({ cost: 0n, tokens: 0 });
    const made: Compared = {
      ...at,
      vendor: none(),
      gateway: none(),
      provisional: unsettled.has(day),
      estimated: 0,
      unpriced: 0,
      unmatchedModel: nothing(),
      unmatchedKey: nothing(),
      foreign: nothing(),
    };
    const there = places.get(name) ?? made;
    places.set(name, there);
    return there;
  };

  for (const row of vendor) {
    const model = row.model === null ? undefined : mapped.get(`model ${row.model}`);
    const key = row.key_id === null ? undefined : mapped.get(`key ${row.key_id}`);
    const at = place(row.day, model?.target ?? row.model, key?.target ?? row.key_id ?? row.project);
    const sums = ofVendor(row);
    add(at.vendor, sums);
    if (unsettled.has(row.day)) totals.provisional += sums.cost;
    else add(totals.vendor, sums);
    const part = { cost: sums.cost, tokens: allTokens(sums) };
    const unknownKey = key !== undefined && key.target === null;
    const unknownModel = model !== undefined && model.target === null && !model.ignored;
    // A key that the vendor lists but the gateway does not have is used past the gateway.
    const bucket = unknownKey
      ? key.ignored || key.label !== null
        ? at.foreign
        : at.unmatchedKey
      : unknownModel
        ? at.unmatchedModel
        : null;
    if (bucket === null) continue;
    bucket.cost += part.cost;
    bucket.tokens += part.tokens;
  }
  for (const row of gateway) {
    const at = place(row.day, row.model, row.keyed_model ?? "provider");
    const sums = ofGateway(row);
    add(at.gateway, sums);
    if (!unsettled.has(row.day)) add(totals.gateway, sums);
    at.estimated += row.estimated_tokens;
    at.unpriced += row.unpriced;
  }

  const rows: UsageReconciled[] = [...places.values()]
    .toSorted((one, other) => `${one.day} ${one.model ?? one.key ?? ""}`.localeCompare(`${other.day} ${other.model ?? other.key ?? ""}`))
    .map((at) => ({
      day: at.day,
      model: at.model,
      key: at.key,
      vendor: shown(at.vendor),
      gateway: shown(at.gateway),
      difference: differenceOf(at),
      provisional: at.provisional,
      explained: explainDifference(at),
    }));
  return {
    from,
    to,
    by: requestedSpan.by,
    split: provider.split,
    rows,
    totals: {
      vendor: shown(totals.vendor),
      gateway: shown(totals.gateway),
      provisional_cost_usd: unitsOfNano(totals.provisional),
      difference: differenceOf(totals),
    },
    other_currencies: otherCurrencies(vendor),
  };
}

const differenceOf = ({ vendor, gateway }: { readonly vendor: Sums; readonly gateway: Sums }) => ({
  tokens: allTokens(vendor) - allTokens(gateway),
  cost_usd: unitsOfNano(vendor.cost - gateway.cost),
});

function otherCurrencies(rows: readonly VendorFigures[]): UsageReconciliation["other_currencies"] {
  const sums = new Map<string, bigint>();
  for (const { currency, cost_nano: cost } of rows)
    if (currency !== null && currency !== "usd") sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(cost));
  return [...sums].map(([currency, nano]) => ({ currency, amount: textOfNano(nano) }));
}

/** The totals of a run: the cost of the settled days of its window, and the difference from the gateway's rows. Nano-dollars. */
export async function runTotals(
  trx: Trx,
  span: { readonly tenantId: string; readonly providerId: string; readonly from: string; readonly to: string },
  completeBefore: number,
): Promise<{ cost: bigint; difference: bigint }> {
  const vendor = await vendorFigures(trx, span);
  const gateway = await gatewayFigures(trx, span);
  const unsettled = unsettledDays(vendor, gateway, completeBefore);
  const settled = ({ day }: { readonly day: string }) => !unsettled.has(day);
  const costOf = (sums: readonly Sums[]) => sums.reduce((sum, { cost }) => sum + cost, 0n);
  const cost = costOf(vendor.filter(settled).map(ofVendor));
  const own = costOf(gateway.filter(settled).map(ofGateway));
  return { cost, difference: cost - own };
}
