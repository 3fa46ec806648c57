import { generateKeyPairSync } from "node:crypto";

/** What a vendor would bill: the expected result of an import. Amounts are in nano-dollars, so nothing is rounded. */
export interface BilledUse {
  readonly day: string;
  readonly model: string;
  readonly key: string;
  readonly project: string;
  input: number;
  cached: number;
  output: number;
  requests: number;
  nano: bigint;
}

export interface BillingVendors {
  readonly origin: string;
  /** The usage, the same at each vendor. */
  readonly uses: BilledUse[];
  /** Requests answered with figures, throttled, and refused. */
  readonly counts: { answered: number; throttled: number; refused: number };
  /** Throttles every nth request; 0: none. */
  throttleEvery: number;
  /** While true, answers everything with 503. */
  down: boolean;
  /** Goes down after this many more answers; -1: never. */
  downAfter: number;
  /** Invalidates all cursors issued so far. */
  forgetCursors(): void;
  /** Pages are held back until it resolves. */
  hold: Promise<void> | null;
  /** Number of answers sent before holding back. */
  holdAfter: number;
  totalNano(from: string, to: string): bigint;
  stop(): Promise<void>;
}

const DAYS_ON_A_PAGE = 3;
const DAY_MS = 86_400_000;

/** Shifts the decimal point of a nano-dollar amount by `places`: 1234500000 is "1.2345". */
function decimal(nano: bigint, places = 9): string {
  const text = nano.toString().padStart(places + 1, "0");
  return `${text.slice(0, -places)}.${text.slice(-places)}`;
}

const days = (from: string, to: string): string[] => {
  const all: string[] = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += DAY_MS) all.push(new Date(at).toISOString().slice(0, 10));
  return all;
};

/** A service account key file whose token endpoint is this fake. */
export function keyFileFor(origin: string): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return JSON.stringify({ type: "service_account", client_email: "reader@bills.example", private_key: pem, token_uri: `${origin}/token` });
}

/** The usage and cost APIs of five vendors on one address, implemented from their documentation; shares no code with the importer. */
export function startBillingVendors(): BillingVendors {
  const uses: BilledUse[] = [];
  const counts = { answered: 0, throttled: 0, refused: 0 };
  let generation = 0;
  let requests = 0;

  /** A few days of a window, and the cursor for the following ones. */
  function pageOf(from: string, to: string, cursor: string | null): { days: string[]; next: string | null } | null {
    const [made, at = "0"] = (cursor ?? `${generation}-0`).split("-");
    if (Number(made) !== generation) return null;
    const all = days(from, to);
    const first = Number(at);
    const next = first + DAYS_ON_A_PAGE < all.length ? `${generation}-${first + DAYS_ON_A_PAGE}` : null;
    return { days: all.slice(first, first + DAYS_ON_A_PAGE), next };
  }

  function openai(url: URL): Response {
    const path = url.pathname.replace("/v1/organization/", "");
    if (path === "projects") return Response.json({ data: [{ id: "proj_1" }], has_more: false, last_id: "proj_1" });
    if (path === "projects/proj_1/api_keys") {
      const keys = [...new Set(uses.map(({ key }) => key))].map((id) => ({
        id,
        name: `name of ${id}`,
        redacted_value: `sk-...${id.slice(-4)}`,
      }));
      return Response.json({ data: keys, has_more: false, last_id: keys.at(-1)?.id ?? null });
    }
    const of = (name: string) => new Date(Number(url.searchParams.get(name)) * 1000).toISOString().slice(0, 10);
    const page = pageOf(of("start_time"), of("end_time"), url.searchParams.get("page"));
    if (page === null) return Response.json({ error: { message: "invalid page" } }, { status: 400 });
    const results = (day: string): object[] => {
      const today = uses.filter((use) => use.day === day);
      if (path === "usage/completions")
        return today.map((use) => ({
          object: "organization.usage.completions.result",
          project_id: use.project,
          api_key_id: use.key,
          model: use.model,
          batch: false,
          service_tier: null,
          user_id: null,
          input_tokens: use.input,
          input_cached_tokens: use.cached,
          output_tokens: use.output,
          num_model_requests: use.requests,
        }));
      if (path !== "costs") return [];
      return today.map((use) => ({
        object: "organization.costs.result",
        amount: { value: Number(decimal(use.nano)), currency: "usd" },
        line_item: `${use.model}, input`,
        project_id: use.project,
        api_key_id: use.key,
      }));
    };
    const data = page.days.map((day) => ({
      object: "bucket",
      start_time: Date.parse(day) / 1000,
      end_time: Date.parse(day) / 1000 + 86_400,
      results: results(day),
    }));
    return Response.json({ object: "page", data, has_more: page.next !== null, next_page: page.next });
  }

  function anthropic(url: URL): Response {
    const path = url.pathname.replace("/v1/organizations/", "");
    if (path === "api_keys") {
      const data = [...new Set(uses.map(({ key }) => key))].map((id) => ({
        id,
        name: null,
        workspace_id: null,
        partial_key_hint: `sk-ant-api03-R2D...${id.slice(-4)}`,
      }));
      return Response.json({ data, has_more: false, last_id: null });
    }
    const of = (name: string) => (url.searchParams.get(name) ?? "").slice(0, 10);
    const page = pageOf(of("starting_at"), of("ending_at"), url.searchParams.get("page"));
    if (page === null) return Response.json({ error: { message: "invalid page" } }, { status: 400 });
    const usage = path === "usage_report/messages";
    const data = page.days.map((day) => ({
      starting_at: `${day}T00:00:00Z`,
      ending_at: new Date(Date.parse(day) + DAY_MS).toISOString(),
      results: uses
        .filter((use) => use.day === day)
        .map((use) =>
          usage
            ? {
                uncached_input_tokens: use.input - use.cached,
                cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
                cache_read_input_tokens: use.cached,
                output_tokens: use.output,
                api_key_id: use.key,
                workspace_id: null,
                model: use.model,
                service_tier: "standard",
                context_window: "0-200k",
              }
            : {
                currency: "USD",
                // In cents.
                amount: decimal(use.nano, 7),
                workspace_id: use.project,
                description: `${use.model} Usage - ${use.key}`,
                cost_type: "tokens",
                model: use.model,
                token_type: "uncached_input_tokens",
              },
        ),
    }));
    return Response.json({ data, has_more: page.next !== null, next_page: page.next });
  }

  function aws(request: Request, body: any): Response {
    if (!/^AWS4-HMAC-SHA256 Credential=AKIA\w+\/\d{8}\/us-east-1\/ce\/aws4_request/.test(request.headers.get("authorization") ?? ""))
      return Response.json({ message: "The security token included in the request is invalid." }, { status: 403 });
    const page = pageOf(body.TimePeriod.Start, body.TimePeriod.End, body.NextPageToken ?? null);
    if (page === null) return Response.json({ message: "Invalid NextPageToken" }, { status: 400 });
    const group = (service: string, type: string, nano: bigint) => ({
      Keys: [service, type],
      Metrics: { UnblendedCost: { Amount: decimal(nano), Unit: "USD" }, UsageQuantity: { Amount: "1.0", Unit: "N/A" } },
    });
    const results = page.days.map((day) => ({
      TimePeriod: { Start: day, End: new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10) },
      Groups: [
        group("Amazon Simple Storage Service", "TimedStorage", 99_000_000_000n),
        ...uses
          .filter((use) => use.day === day)
          .map((use) => group("Claude (Amazon Bedrock Edition)", `${use.model}-${use.key}`, use.nano)),
      ],
      Estimated: false,
    }));
    return Response.json({ ResultsByTime: results, ...(page.next === null ? {} : { NextPageToken: page.next }) });
  }

  function azure(url: URL, body: any, origin: string): Response {
    const page = pageOf(
      body.timePeriod.from.slice(0, 10),
      new Date(Date.parse(body.timePeriod.to) + 1000).toISOString().slice(0, 10),
      url.searchParams.get("$skiptoken"),
    );
    if (page === null) return Response.json({ error: { message: "bad skiptoken" } }, { status: 400 });
    const columns = ["Cost", "UsageDate", "ResourceId", "Meter", "Currency"].map((name) => ({ name, type: "String" }));
    const rows = uses
      .filter((use) => page.days.includes(use.day))
      .map((use) => [
        Number(decimal(use.nano)),
        Number(use.day.replaceAll("-", "")),
        `/subscriptions/s/${use.project}`,
        `${use.model} ${use.key}`,
        "USD",
      ]);
    const next =
      page.next === null ? null : `${origin}${url.pathname}?api-version=${url.searchParams.get("api-version")}&$skiptoken=${page.next}`;
    return Response.json({ properties: { nextLink: next, columns, rows } });
  }

  let asked: { from: string; to: string } = { from: "", to: "" };
  function google(url: URL, body: any): Response {
    if (body !== null) {
      const of = (name: string) => body.queryParameters.find((one: any) => one.name === name).parameterValue.value.slice(0, 10);
      asked = { from: of("from"), to: of("to") };
      return Response.json({ jobComplete: false, jobReference: { projectId: "bills", jobId: "job_1", location: "EU" } });
    }
    if (url.searchParams.get("location") !== "EU") return Response.json({ error: { message: "Not found: Job" } }, { status: 404 });
    const page = pageOf(asked.from, asked.to, url.searchParams.get("pageToken"));
    if (page === null) return Response.json({ error: { message: "bad page token" } }, { status: 400 });
    const rows = uses
      .filter((use) => page.days.includes(use.day))
      .map((use) => ({ f: [use.day, use.project, `${use.model} ${use.key}`, "USD", decimal(use.nano)].map((v) => ({ v })) }));
    return Response.json({
      jobComplete: true,
      jobReference: { projectId: "bills", jobId: "job_1", location: "EU" },
      rows,
      ...(page.next === null ? {} : { pageToken: page.next }),
    });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const text = await request.text();
      if (url.pathname.endsWith("/token")) return Response.json({ access_token: "ya29.token", expires_in: 3600, token_type: "Bearer" });
      const body = text === "" ? null : JSON.parse(text);
      requests++;
      if (vendors.down || vendors.downAfter === 0) {
        vendors.down = true;
        counts.refused++;
        return Response.json({ error: { message: "unavailable" } }, { status: 503 });
      }
      if (vendors.throttleEvery > 0 && requests % vendors.throttleEvery === 0) {
        counts.throttled++;
        return Response.json({ error: { message: "slow down" } }, { status: 429, headers: { "retry-after": "0" } });
      }
      if (vendors.holdAfter > 0) vendors.holdAfter--;
      else await vendors.hold;
      const answer = (() => {
        if (url.pathname.startsWith("/v1/organization/"))
          return request.headers.get("authorization") === "Bearer sk-admin-right"
            ? openai(url)
            : Response.json({ error: { message: `Incorrect API key provided: ${request.headers.get("authorization")}` } }, { status: 401 });
        if (url.pathname.startsWith("/v1/organizations/")) return anthropic(url);
        if (url.pathname.startsWith("/bigquery/")) return google(url, body);
        if (url.pathname.endsWith("Microsoft.CostManagement/query")) return azure(url, body, url.origin);
        return request.headers.has("x-amz-target") ? aws(request, body) : new Response("no such path", { status: 404 });
      })();
      counts.answered++;
      if (vendors.downAfter > 0) vendors.downAfter--;
      return answer;
    },
  });

  const vendors: BillingVendors = {
    origin: `http://127.0.0.1:${server.port}`,
    uses,
    counts,
    throttleEvery: 0,
    down: false,
    downAfter: -1,
    hold: null,
    holdAfter: 0,
    forgetCursors: () => void generation++,
    totalNano: (from, to) => uses.filter(({ day }) => day >= from && day < to).reduce((sum, { nano }) => sum + nano, 0n),
    stop: () => server.stop(true),
  };
  return vendors;
}
