import { type Served, serveModels } from "./admin.ts";
import { startWorld, type World } from "../world.ts";

/** A portal with two models, one of them hidden in the model picker. */
export interface PortalWorld {
  readonly world: World;
  readonly url: string;
  readonly served: Served;
  /** A chat call with the token of a signed-in person. */
  chat(token: string, body?: object, headers?: Record<string, string>): Promise<Response>;
}

export async function startPortalWorld(): Promise<PortalWorld> {
  const world = await startWorld();
  const url = world.gateway.runtimeUrl;
  const served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", { name: "hidden-1", input_cost_per_million_tokens: 2 }]);
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-models/hidden-1/portal-visibility`, {
    portal_visible: false,
  });
  return {
    world,
    url,
    served,
    chat: (token, body = {}, headers = {}) =>
      fetch(`${url}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ model_id: served.models["fake-1"], messages: [{ role: "user", content: "hello" }], ...body }),
      }),
  };
}
