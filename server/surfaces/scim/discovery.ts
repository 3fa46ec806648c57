import type { ScimAttribute, ScimResourceType, ScimSchema } from "../../wire/scim/attributes.ts";
import { GROUPS, USERS } from "../../wire/scim/resource-types.ts";

export const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
export const MAX_RESULTS = 200;

/** The capabilities of this implementation (RFC 7643, section 5). */
export function serviceProviderConfig(base: string): Record<string, unknown> {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "A token an administrator made for the directory, as Authorization: Bearer.",
        specUri: "https://www.rfc-editor.org/info/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

function attributeDocument(attribute: ScimAttribute): Record<string, unknown> {
  return {
    name: attribute.name,
    type: attribute.type,
    multiValued: attribute.multi === true,
    description: attribute.description,
    required: attribute.required === true,
    ...(attribute.type === "complex" || attribute.type === "boolean" ? {} : { caseExact: attribute.caseExact === true }),
    mutability: attribute.readOnly === true ? "readOnly" : "readWrite",
    returned: "default",
    ...(attribute.type === "complex" || attribute.type === "boolean" ? {} : { uniqueness: attribute.unique === true ? "server" : "none" }),
    ...(attribute.type === "reference" ? { referenceTypes: attribute.name === "$ref" ? ["User", "Group"] : ["external"] } : {}),
    ...(attribute.sub === undefined ? {} : { subAttributes: attribute.sub.map(attributeDocument) }),
  };
}

function schemaDocument(schema: ScimSchema, base: string): Record<string, unknown> {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    id: schema.id,
    name: schema.name,
    description: schema.description,
    attributes: schema.attributes.map(attributeDocument),
    meta: { resourceType: "Schema", location: `${base}/Schemas/${schema.id}` },
  };
}

function resourceTypeDocument(type: ScimResourceType, base: string): Record<string, unknown> {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id: type.name,
    name: type.name,
    endpoint: type.endpoint,
    description: type.description,
    schema: type.core.id,
    schemaExtensions: type.extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${type.name}` },
  };
}

export const schemaDocuments = (base: string) =>
  [USERS, GROUPS].flatMap((type) => [type.core, ...type.extensions]).map((schema) => schemaDocument(schema, base));
export const resourceTypeDocuments = (base: string) => [USERS, GROUPS].map((type) => resourceTypeDocument(type, base));

export const listDocument = (resources: readonly unknown[], total = resources.length, startIndex = 1): Record<string, unknown> => ({
  schemas: [LIST_SCHEMA],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});
