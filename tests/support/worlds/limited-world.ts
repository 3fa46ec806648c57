import { type AdminClient, type Served, serveModels } from "./admin.ts";
import { PATIENCE_MS } from "../patience.ts";
import { nextLook } from "../until.ts";
import { startWorld, type World } from "../world.ts";

export const PRICED = { input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 2 };
export const GROUPS = "/v1/admin/resource-groups";

/** A group with its own key. */
export interface LimitedTeam {
  readonly id: string;
  readonly name: string;
  readonly key: string;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

/** A gateway process with its own counters, priced and unpriced models, and groups to limit. */
export interface LimitedWorld {
  readonly world: World;
  readonly served: Served;
  /** Default parent: the group that has the models. */
  team(name: string, parentId?: string): Promise<LimitedTeam>;
  patch(id: string, path: string, body: object): ReturnType<AdminClient["request"]>;
  limit(id: string, limits: object): Promise<any>;
  chat(key: string, body?: object, headers?: Record<string, string>): Promise<Reply>;
  /** The group's alerts, once there are at least this many. */
  alertsOf(team: Pick<LimitedTeam, "id">, atLeast: number): Promise<any[]>;
}

export async function startLimitedWorld(): Promise<LimitedWorld> {
  const world = await startWorld();
  const { admin } = world;
  const served = await serveModels(admin, world.upstream.baseUrl, [
    { name: "fake-1", ...PRICED },
    { name: "hold", ...PRICED },
    { name: "broken", ...PRICED },
    "unpriced",
  ]);
  const patch = (id: string, path: string, body: object) => admin.request("PATCH", `${GROUPS}/${id}/${path}`, body);
  return {
    world,
    served,
    patch,
    async team(name, parentId = served.groupId) {
      const { id } = await admin.post(GROUPS, { tenant_id: "default", name, parent_group_id: parentId });
      const key = await admin.post(`${GROUPS}/${id}/api-keys`, { name: `${name} key`, access_mode: "shared" });
      return { id, name, key: key.key_value };
    },
    async limit(id, limits) {
      const reply = await patch(id, "llm-global-limits", { llm_global_limits: limits });
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
      return reply.body;
    },
    async chat(key, body = {}, headers = {}) {
      const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key, ...headers },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }], ...body }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text.startsWith("{") ? JSON.parse(text) : text };
    },
    async alertsOf({ id }, atLeast) {
      for (const begun = Date.now(); ; await nextLook(begun)) {
        const { alerts } = await admin.get(`/v1/admin/alerts?group_id=${id}&tenant_id=default`);
        if (alerts.length >= atLeast || Date.now() > begun + PATIENCE_MS) return alerts;
      }
    },
  };
}
