import { listOf } from "@gatehouse/contracts/conventions";
import {
  signOnProvider,
  identityProviderCreate,
  identityProviderQuery,
  identityProviderUpdate,
  mappingPreview,
  mappingPreviewResult,
  signOnIdentity,
  signOnIdentityCreate,
  signOnIdentityNamed,
  signOnIdentityQuery,
} from "@gatehouse/contracts/identity-providers";
import { mapped } from "../../../directory/identity/claims.ts";
import { identityProviders } from "../../../directory/identity/identity-providers.ts";
import { linkIdentity, listIdentities, unlinkIdentity } from "../../../directory/identity/linked-identities.ts";
import { invalidField } from "../../../directory/writes/records.ts";
import { type AdminOperation, operation } from "../operation.ts";
import { idOf, listed, resource } from "../resource.ts";

const PATH = "/v1/admin/identity-providers";
const IDENTITIES = `${PATH}/{id}/identities`;
const tag = "Identity providers";
const ofOne = { tag, reach: "one", subject: "identity_providers", path: IDENTITIES } as const;

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
      update:
        "Members left out of the body stay unchanged; each other is replaced as a whole. Switching it off, making it stricter or mapping a group to another role signs out everybody who signed in through it.",
      remove: "Everybody who signed in through it is signed out, and its tokens are no longer accepted. The people it created stay.",
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
  operation({
    ...ofOne,
    access: "users:read",
    method: "GET",
    summary: "List who signs in by an identity provider",
    query: signOnIdentityQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("identities", signOnIdentity) },
    run: (call) =>
      listed("identities", call, (page) => listIdentities(call.services.directory, call.tenantId, idOf(call), call.query, page)),
  }),
  operation({
    ...ofOne,
    access: "users:write",
    method: "POST",
    summary: "Link an account to an identity at an identity provider",
    description: "From then on the person signs in with it to the existing account. A matching name or e-mail address never links anybody.",
    body: signOnIdentityCreate,
    answer: { status: 200, about: "Who signs in as which account", schema: signOnIdentity },
    run: (call) => call.write((write) => linkIdentity(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...ofOne,
    access: "users:write",
    method: "DELETE",
    summary: "Unlink an account from an identity at an identity provider",
    description:
      "Send the subject in the body or in the query. The person is signed out everywhere and removed from the groups that this provider put them in. 404 not_bound if it is linked to nobody.",
    query: signOnIdentityNamed,
    body: signOnIdentityNamed,
    answer: { status: 204, about: "It is unlinked" },
    run(call) {
      const subject = call.query.subject ?? call.body.subject;
      if (subject === undefined) throw invalidField("subject", "is required");
      return call.write((write) => unlinkIdentity(write, call.tenantId, idOf(call), subject));
    },
  }),
];
