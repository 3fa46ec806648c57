import { expect, test } from "bun:test";
import { systemClock } from "../../kernel/clock.ts";
import type { Call } from "../../road/call.ts";
import type { Span } from "../../wire/otlp/traces.ts";
import { rowCarriedBy, traceIngest, type TraceIngestParts } from "./trace-ingest.ts";

const CALL = { rowId: "row", rootTaskId: "run" };
const client = (spanId: string, parentSpanId: string | null = null) => ({ traceId: "t", spanId, parentSpanId, kind: 3 }) as Span;

test("a model span is joined to the gateway call of its HTTP span, but another kind of span is not", () => {
  const inner = { ...client("inner"), kind: 1 } as Span;
  const carried = rowCarriedBy([client("model"), client("http", "model"), inner, client("other", "inner")], {
    gatewayCalls: new Map([
      ["t/http", CALL],
      ["t/other", CALL],
    ]),
  });
  expect([...carried]).toEqual([
    ["t/http", CALL],
    ["t/other", CALL],
    ["t/model", CALL],
  ]);
});

test("a batch that repeats one call many times is processed in linear time", () => {
  let reads = 0;
  const spans = Array.from({ length: 1_000 }, () => ({
    ...client("http", "nobody"),
    get spanId() {
      return (reads++, "http");
    },
  }));
  rowCarriedBy(spans, { gatewayCalls: new Map([["t/http", CALL]]) });
  expect(reads).toBeLessThan(10_000);
});

const NOTHING_KNOWN = { transformQuery: (query: unknown) => query, compileQuery: () => ({}), executeQuery: async () => ({ rows: [] }) };
const KEY_CALL = {
  identity: { tenantId: "t", credentialId: "k" },
  scope: { groupId: "g", tenant: { storeBodies: "none" } },
  row: {},
} as unknown as Call;
const SPAN = {
  ...client("s"),
  name: "",
  startNanos: 1n,
  endNanos: 2n,
  attributes: {},
  resource: {},
  scope: null,
  statusCode: 0,
  statusMessage: null,
  exception: null,
};

test("a span sent again while its row is being sealed is accepted once the row is stored, and refused if it is lost", async () => {
  const rows: PromiseWithResolvers<void>[] = [];
  const seal = () => {
    rows.push(Promise.withResolvers<void>());
    return (rows.at(-1) as PromiseWithResolvers<void>).promise;
  };
  const secrets = { hmac: () => "h".repeat(64) };
  let room = Number.POSITIVE_INFINITY;
  const inlet = traceIngest({
    db: { getExecutor: () => NOTHING_KNOWN },
    claims: { take: async (_tenant: string, spans: Span[]) => new Set(spans.map(({ spanId }) => `t/${spanId}`)), release: async () => {} },
    ledger: { accepting: () => room-- > 0, seal },
    secrets,
    clock: systemClock(),
    shipped: async () => true,
  } as unknown as TraceIngestParts);
  const nextTurn = () => new Promise(setImmediate);

  const lost = [inlet.accept(KEY_CALL, [SPAN]), inlet.accept(KEY_CALL, [SPAN])];
  await nextTurn();
  rows[0]?.reject(new Error("the journal is full"));
  expect(await Promise.all(lost)).toMatchObject([{ code: "ledger_unavailable" }, { code: "ledger_unavailable" }]);
  const stored = [inlet.accept(KEY_CALL, [SPAN]), inlet.accept(KEY_CALL, [SPAN])];
  await nextTurn();
  rows[1]?.resolve();
  expect(await Promise.all(stored)).toEqual([{ recorded: 1 }, { recorded: 0 }]);
  expect(rows).toHaveLength(2);

  // The space reserved for calls is not used for the rest of a batch: its sender retries.
  room = 3;
  const many = inlet.accept(
    KEY_CALL,
    Array.from({ length: 10 }, (_, at) => ({ ...SPAN, spanId: `many-${at}` })),
  );
  await nextTurn();
  for (const row of rows) row.resolve();
  expect(await many).toMatchObject({ code: "ledger_unavailable" });
  expect(rows).toHaveLength(4);
});

test("a span that another process is recording is left to it, the rest is recorded, and the sender must retry", async () => {
  const sealed: string[] = [];
  const released: string[] = [];
  const inlet = traceIngest({
    db: { getExecutor: () => NOTHING_KNOWN },
    claims: {
      take: async () => new Set(["t/mine"]),
      release: async (_tenant: string, spans: Span[]) => void released.push(...spans.map(({ spanId }) => spanId)),
    },
    ledger: { accepting: () => true, seal: async ({ span_id: id }: { span_id: string }) => void sealed.push(id) },
    secrets: { hmac: () => "h".repeat(64) },
    clock: systemClock(),
    shipped: async () => true,
  } as unknown as TraceIngestParts);
  const taken = await inlet.accept(KEY_CALL, [
    { ...SPAN, spanId: "mine" },
    { ...SPAN, spanId: "another's" },
  ]);
  expect([taken, sealed, released]).toMatchObject([{ code: "ledger_unavailable" }, ["mine"], []]);
});
