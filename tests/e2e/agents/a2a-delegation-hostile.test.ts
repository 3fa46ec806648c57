import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { serveModels } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../../support/patience.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Ten thousand delegation chains that are invalid or may not continue: every row gives the reason. */
const CHAINS = 10_000;
const AT_ONCE = 24;
const NAMES = ["x-gw-delegation-chain", "x-gw-delegation-signature", "x-gw-delegation-key-id"] as const;
type Chain = Record<(typeof NAMES)[number], string>;

let world: World;
let agent: AgentFixture;
beforeAll(async () => {
  world = await startWorld();
  agent = await startAgent();
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
});

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** How a chain is tampered with, where it is presented, and what the row must record. */
interface Attack {
  readonly change: (chain: Chain, at: number) => Record<string, string>;
  readonly goesTo: "model" | "first" | "shallow";
  readonly by?: "stranger";
  readonly says: readonly [continuity: string, refused: string | null, error: string | null];
}
const [CHAIN, SIGNATURE, KEY] = NAMES;
const unfit = ["sig_failed", "the signature does not fit", null] as const;
const read = (chain: Chain) => JSON.parse(Buffer.from(chain[CHAIN], "base64url").toString());

const ATTACKS: Readonly<Record<string, Attack>> = {
  forged: {
    change: (chain, at) => ({ ...chain, [SIGNATURE]: new Bun.CryptoHasher("sha256").update(String(at)).digest("base64url") }),
    goesTo: "model",
    says: unfit,
  },
  "with a hop of its own": {
    change(chain, at) {
      const value = read(chain);
      return { ...chain, [CHAIN]: encoded({ ...value, hops: [...value.hops, { ...value.hops[0], agent: `a${at}`, depth: 2 }] }) };
    },
    goesTo: "model",
    says: unfit,
  },
  "of another run": {
    change: (chain, at) => ({ ...chain, [CHAIN]: encoded({ ...read(chain), root_task_id: `run-${at}` }) }),
    goesTo: "model",
    says: unfit,
  },
  reordered: {
    change(chain) {
      const { hops, root_kind: kind, root_task_id: root } = read(chain);
      return { ...chain, [CHAIN]: encoded({ hops, root_kind: kind, root_task_id: root }) };
    },
    goesTo: "model",
    says: unfit,
  },
  "of another key": {
    change: (chain, at) => ({ ...chain, [KEY]: at.toString(16).padStart(16, "0") }),
    goesTo: "model",
    says: ["sig_failed", "signed with another key", null],
  },
  "replayed by somebody else": {
    change: (chain) => chain,
    goesTo: "model",
    by: "stranger",
    says: ["sig_failed", "given to another agent", null],
  },
  torn: {
    change: (chain, at) => ({ [NAMES[at % 3] as string]: chain[NAMES[at % 3] as keyof Chain] }),
    goesTo: "model",
    says: ["client_dropped", null, null],
  },
  "that comes back": { change: (chain) => chain, goesTo: "first", says: ["verified", null, "delegation_loop"] },
  "that goes too deep": { change: (chain) => chain, goesTo: "shallow", says: ["verified", null, "delegation_too_deep"] },
};

test(
  "10,000 delegation chains that are forged, reordered, replayed, looping or too deep are rejected with the reason",
  async () => {
    const { admin, gateway, upstream } = world;
    const served = await serveModels(admin, upstream.baseUrl, ["fake-1"], { group: "the agent" });
    const [caller, stranger] = [await newTeam(admin, "callers"), await newTeam(admin, "strangers")];
    const llm = await admin.get("/v1/admin/llms?tenant_id=default");
    const modelId = llm.llms.find(({ name }: { name: string }) => name === "fake-1").id;
    await admin.post(`/v1/admin/resource-groups/${stranger.groupId}/llm-models`, { model_ids: [modelId] });
    const first = await registerAgent(admin, "first", agent.url, { resource_group_id: served.groupId });
    const shallow = await registerAgent(admin, "shallow", agent.url);
    await grantAgent(admin, first.id, [caller.groupId, served.groupId]);
    await grantAgent(admin, shallow.id, [served.groupId], { max_depth: 1 });
    await call(`${gateway.runtimeUrl}/a2a/default/first`, caller.apiKey, "POST", "/message:send", message("complete x"));
    const headers = agent.requests.at(-1)?.headers ?? {};
    const chain = Object.fromEntries(NAMES.map((name) => [name, String(headers[name])])) as Chain;
    const heard = agent.requests.length;

    const attacks = Object.values(ATTACKS);
    const expected = new Map<string, Attack["says"]>();
    const send = async (at: number): Promise<void> => {
      const attack = attacks[at % attacks.length] as Attack;
      const toModel = attack.goesTo === "model";
      const address = toModel ? "/v1/proxy/llm/chat/completions" : `/a2a/default/${attack.goesTo}/message:send`;
      const body = toModel ? { model: "fake-1", messages: [{ role: "user", content: "hi" }] } : message("complete y");
      const response = await fetch(gateway.runtimeUrl + address, {
        method: "POST",
        headers: {
          "x-api-key": attack.by === "stranger" ? stranger.apiKey : served.apiKey,
          ...{ "content-type": "application/json", "a2a-version": "1.0" },
          ...attack.change(chain, at),
        },
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
      expect(response.status).toBe(toModel ? 200 : 403);
      if (toModel) expect(response.headers.get("x-gw-run-id")).not.toBe(read(chain).root_task_id);
      expected.set(response.headers.get("x-request-id") ?? "", attack.says);
    };
    let next = 0;
    const worker = async () => {
      while (next < CHAINS) await send(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(expected.size).toBe(CHAINS);
    expect(agent.requests.length).toBe(heard);

    const database = new pg.Client({ connectionString: world.databaseUrl });
    await database.connect();
    try {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        const { rows } = await database.query(
          "SELECT id, trace_continuity, custom_metadata->>'delegation_refused' AS refused, error_type FROM audit_rows WHERE id = ANY($1)",
          [[...expected.keys()]],
        );
        if (rows.length < CHAINS && Date.now() < deadline) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          continue;
        }
        expect(rows.length).toBe(CHAINS);
        const wrong = rows.filter(
          (row) => JSON.stringify([row.trace_continuity, row.refused, row.error_type]) !== JSON.stringify(expected.get(row.id)),
        );
        expect(wrong).toEqual([]);
        break;
      }
    } finally {
      await database.end();
    }
  },
  LONG_TEST_MS,
);
