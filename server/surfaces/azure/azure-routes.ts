import { decodedSegment } from "../../kernel/http/request-path.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import { JsonDocument } from "../../wire/json/document.ts";

/** Where Azure OpenAI's clients call: OpenAI's formats under paths of Azure's own, with `api-key` and an `api-version` that changes nothing here. */

const OPENAI = "/v1/proxy/llm";
const AZURE = "/openai";
const DEPLOYMENTS = `${AZURE}/deployments/`;

/** What Azure's clients ask of a deployment; the rest they ask for below `/openai`, and name the model in the body. */
const DEPLOYMENT_OPERATIONS = [
  ...["/chat/completions", "/completions", "/embeddings", "/images/generations", "/images/edits"],
  ...["/audio/speech", "/audio/transcriptions", "/audio/translations"],
] as const;

interface OpenaiRoute<Services> {
  readonly path: string;
  readonly surface: Surface | ((services: Services) => Surface);
}

/** Where Azure's clients look for what OpenAI's find at `path`. */
export function azurePath(path: string, deployment = ":deployment{.+}"): string {
  const operation = operationAt(path);
  return operation === undefined ? AZURE + path.slice(OPENAI.length) : DEPLOYMENTS + deployment + operation;
}

const operationAt = (path: string) => DEPLOYMENT_OPERATIONS.find((operation) => path === OPENAI + operation);

/** The same routes where Azure's clients look for them. */
export function azureRoutes<Services, Route extends OpenaiRoute<Services>>(routes: readonly Route[]): Route[] {
  return routes.map((route) => {
    const operation = operationAt(route.path);
    const path = azurePath(route.path);
    if (operation === undefined) return { ...route, path };
    const served = (services: Services) => (typeof route.surface === "function" ? route.surface(services) : route.surface);
    return { ...route, path, surface: (services: Services) => atDeployment(served(services), operation) };
  });
}

/** A deployment is the model of that name, whatever the body says. A form that comes in pieces names its model itself, as Azure's clients do. */
function atDeployment(surface: Surface, operation: string): Surface {
  return { ...surface, read: (call, body) => surface.read(call, body === null ? null : withModel(body, deploymentIn(call, operation))) };
}

function deploymentIn({ path }: Call, operation: string): string {
  return decodedSegment(path.slice(path.indexOf(DEPLOYMENTS) + DEPLOYMENTS.length, path.lastIndexOf(operation)));
}

/** What is wrong with a body is found by whoever reads it. */
function withModel(body: Uint8Array, model: string): Uint8Array {
  const document = JsonDocument.read(body);
  if (!(document instanceof JsonDocument)) return body;
  // An id would win over the name.
  const id = document.takeOut("model_id");
  if (id === undefined && document.value.model === model) return body;
  document.set("model", model);
  return new TextEncoder().encode(document.text());
}
