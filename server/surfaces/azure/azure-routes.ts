import { decodedSegment } from "../../kernel/http/request-path.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import { JsonDocument } from "../../wire/json/document.ts";

/** Paths of Azure OpenAI clients: OpenAI's formats under Azure's paths, with `api-key` and an `api-version` that has no effect here. */

const OPENAI = "/v1/proxy/llm";
const AZURE = "/openai";
const DEPLOYMENTS = `${AZURE}/deployments/`;

/** Operations that Azure's clients address to a deployment; for all others, below `/openai`, the model is named in the body. */
const DEPLOYMENT_OPERATIONS = [
  ...["/chat/completions", "/completions", "/embeddings", "/images/generations", "/images/edits"],
  ...["/audio/speech", "/audio/transcriptions", "/audio/translations"],
] as const;

interface OpenaiRoute<Services> {
  readonly path: string;
  readonly surface: Surface | ((services: Services) => Surface);
}

/** The Azure path that corresponds to OpenAI's `path`. */
export function azurePath(path: string, deployment = ":deployment{.+}"): string {
  const operation = operationAt(path);
  return operation === undefined ? AZURE + path.slice(OPENAI.length) : DEPLOYMENTS + deployment + operation;
}

const operationAt = (path: string) => DEPLOYMENT_OPERATIONS.find((operation) => path === OPENAI + operation);

/** The same routes at the paths of Azure's clients. */
export function azureRoutes<Services, Route extends OpenaiRoute<Services>>(routes: readonly Route[]): Route[] {
  return routes.map((route) => {
    const operation = operationAt(route.path);
    const path = azurePath(route.path);
    if (operation === undefined) return { ...route, path };
    const served = (services: Services) => (typeof route.surface === "function" ? route.surface(services) : route.surface);
    return { ...route, path, surface: (services: Services) => atDeployment(served(services), operation) };
  });
}

/** A deployment is the model of that name, whatever the body says. A streamed form names its model itself, as Azure's clients do. */
function atDeployment(surface: Surface, operation: string): Surface {
  return { ...surface, read: (call, body) => surface.read(call, body === null ? null : withModel(body, deploymentIn(call, operation))) };
}

function deploymentIn({ path }: Call, operation: string): string {
  return decodedSegment(path.slice(path.indexOf(DEPLOYMENTS) + DEPLOYMENTS.length, path.lastIndexOf(operation)));
}

/** Errors in the body are reported by the surface that reads it. */
function withModel(body: Uint8Array, model: string): Uint8Array {
  const document = JsonDocument.read(body);
  if (!(document instanceof JsonDocument)) return body;
  // An ID would take precedence over the name.
  const id = document.takeOut("model_id");
  if (id === undefined && document.value.model === model) return body;
  document.set("model", model);
  return new TextEncoder().encode(document.text());
}
