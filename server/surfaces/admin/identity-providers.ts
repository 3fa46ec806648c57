import {
  signOnProvider,
  identityProviderCreate,
  identityProviderQuery,
  identityProviderUpdate,
  mappingPreview,
  mappingPreviewResult,
} from "@gatehouse/contracts/identity-providers";
import { mapped } from "../../directory/identity/claims.ts";
import { identityProviders } from "../../directory/identity/identity-providers.ts";
import { type AdminOperation, operation } from "./operation.ts";
import { idOf, resource } from "./resource.ts";

const PATH = "/v1/admin/identity-providers";
const tag = "Identity providers";

export const identityProviderOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "identity_providers",
    noun: "identity provider",
    article: "an",
    tag,
    area: "users",
    table: "identity_providers",
    records: identityProviders,
    query: identityProviderQuery,
    create: identityProviderCreate,
    update: identityProviderUpdate,
    read: signOnProvider,
    notes: {
      update: "What the body leaves out stays; each member that is there is replaced whole.",
      remove: "Nobody signs in by it any more, and its tokens open nothing from then on. The people it made stay.",
    },
  }),
  operation({
    tag,
    access: "users:read",
    reach: "one",
    subject: "identity_providers",
    method: "POST",
    path: `${PATH}/{id}/preview`,
    summary: "Show what claims would become",
    description: "Runs the mapping over claims without anybody signing in. Changes nothing.",
    body: mappingPreview,
    answer: { status: 200, about: "Who it would be, and whether they would get in", schema: mappingPreviewResult },
    async run(call) {
      const provider = await identityProviders.get(call.services.directory, call.tenantId, idOf(call));
      return mapped(provider, call.body.claims);
    },
  }),
];
