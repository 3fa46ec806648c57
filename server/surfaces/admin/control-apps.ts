import { pathOf } from "../../kernel/http/request-path.ts";
import type { Log } from "../../kernel/log.ts";
import { SCIM_PATH } from "../../wire/scim/scim-path.ts";
import { errorAnswer } from "./answers.ts";
import { requestIdOf } from "./request-id.ts";
import type { HealthHandler } from "./services.ts";

/** What answers requests of the control plane. */
export interface ControlApp {
  fetch(request: Request, info: { ip: string }): Promise<Response>;
}

/** Loads an app at its first request, which waits for it, and does not load it again. */
function loadedOnce(load: () => Promise<ControlApp>): ControlApp {
  let loaded: Promise<ControlApp> | undefined;
  return { fetch: async (request, info) => (await (loaded ??= load())).fetch(request, info) };
}

/**
 * The control plane, with its APIs loaded at their first requests: their schemas are a quarter of the work of a start and 10 MB, which a
 * gateway that only serves calls never needs. Health pages are asked for all the time, so they are answered without the APIs.
 */
export function controlApps(
  { admin, scim }: { readonly admin: () => Promise<ControlApp>; readonly scim: () => Promise<ControlApp> },
  health: Readonly<Record<string, HealthHandler>>,
  log: Log,
): ControlApp {
  const [adminApi, scimApi] = [loadedOnce(admin), loadedOnce(scim)];
  const healthAnswer = async (request: Request, path: string, answer: HealthHandler): Promise<Response> => {
    const requestId = requestIdOf(request);
    const response = await Promise.resolve(request)
      .then(answer)
      .catch((error: unknown) => errorAnswer(error, log, { method: request.method, path, requestId }));
    response.headers.set("x-request-id", requestId);
    return response;
  };
  return {
    async fetch(request, info) {
      const path = pathOf(request.url);
      const answer = request.method === "GET" ? health[path] : undefined;
      if (answer !== undefined) return healthAnswer(request, path, answer);
      return (path.startsWith(`${SCIM_PATH}/`) ? scimApi : adminApi).fetch(request, info);
    },
  };
}
