import { mintedOwnKey, ownKey, ownKeyCreate, ownKeys } from "@gatehouse/contracts/portal-keys";
import { createOwnKey } from "../../directory/people/portal/create-own-key.ts";
import { listOwnKeys, revokeOwnKey } from "../../directory/people/portal/own-keys.ts";
import { portalAnswer, portalOperation, type PortalRoute } from "./portal-operation.ts";

const PATH = "/v1/portal/api-keys";

/** API keys that people create for themselves, if their tenant allows it. */
export const ownKeyRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: PATH,
    name: "own_keys",
    summary: "The user's own API keys, newest first",
    answer: { status: 200, schema: ownKeys },
    run: ({ services, who }) => listOwnKeys(services.directory, who),
  }),
  portalOperation({
    method: "POST",
    path: PATH,
    name: "own_key_create",
    summary: "Creates a key, which is shown only in this answer",
    answer: { status: 201, schema: mintedOwnKey },
    body: ownKeyCreate,
    run: async ({ services, who, body, origin }) => portalAnswer(201, await createOwnKey(services.directory, who, body, origin)),
  }),
  portalOperation({
    method: "DELETE",
    path: `${PATH}/:key_id`,
    name: "own_key_revoke",
    summary: "Revokes a key permanently",
    answer: { status: 200, schema: ownKey },
    run: ({ services, who, params, origin }) => revokeOwnKey(services.directory, who, params.key_id ?? "", origin),
  }),
];
