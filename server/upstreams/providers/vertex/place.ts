import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { ProviderTarget } from "../provider.ts";
import { withoutSlash } from "../send.ts";
import { readServiceAccount } from "./service-account.ts";

export interface VertexPlace {
  readonly origin: string;
  readonly project: string | null;
  readonly location: string;
}

/** From the base_url if it names both (`…/v1/projects/{project}/locations/{location}`), else from the key file and the host. */
export function vertexPlaceOf(target: ProviderTarget): VertexPlace {
  const base = withoutSlash(target.baseUrl);
  const named = /^(.*?)\/v1(?:beta1)?\/projects\/([^/]+)\/locations\/([^/]+)/.exec(base);
  const [, before, project, location] = named ?? [];
  if (before !== undefined && project !== undefined && location !== undefined)
    return { origin: before, project: decodeURIComponent(project), location: decodeURIComponent(location) };
  const host = new URL(base).hostname;
  const byHost = /^([a-z0-9-]+)-aiplatform\./.exec(host)?.[1] ?? null;
  const account = target.apiKey === null ? null : readServiceAccount(target.apiKey);
  return {
    origin: base.replace(/\/v1(?:beta1)?$/, ""),
    project: account?.projectId ?? null,
    location: byHost ?? (host.startsWith("aiplatform.") ? "global" : (target.region ?? "global")),
  };
}

export const noProject = (): Refusal =>
  refuse("upstream_error", "The Vertex provider's base_url must name the Google Cloud project.", {
    reason:
      "the credential is no service account key, so the project must stand in the base_url " +
      "(/v1/projects/{project}/locations/{location})",
  });
