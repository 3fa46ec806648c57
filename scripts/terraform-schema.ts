import { openApiDocument } from "../server/surfaces/admin/document.ts";
import { recordRoutes } from "../server/surfaces/admin/record-route.ts";
import { OPERATIONS } from "../server/surfaces/admin/routes.ts";

/**
 * Generates the schema of a Terraform provider for Gatehouse, in the format of `terraform providers schema -json`, from the admin API's
 * document: a resource for each kind of record and each of its documents, a data source for each that can be read.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

interface Operation {
  readonly summary?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
}

type Path = Readonly<Partial<Record<"get" | "post" | "put" | "patch" | "delete", Operation>>>;

interface Document {
  readonly paths: Readonly<Record<string, Path>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type TerraformType = string | readonly unknown[];

interface Attribute {
  readonly type: TerraformType;
  readonly description?: string;
  readonly description_kind: "plain";
  readonly required?: true;
  readonly optional?: true;
  readonly computed?: true;
  readonly sensitive?: true;
}

type Attributes = Readonly<Record<string, Attribute>>;

/** Members that are write-only or returned only once. */
const SECRET = /(?:^|_)(?:api_key|key_value|password|secret|client_secret|private_key|token|token_value|access_token)$/;

const PREFIX = "/v1/admin/";

class Schemas {
  private readonly document: Document;

  constructor(document: Document) {
    this.document = document;
  }

  /** The schema without null, with its parts merged. */
  plain(schema: Schema | undefined): Schema {
    if (schema === undefined) return {};
    if (schema.$ref !== undefined) return this.plain(this.document.components.schemas[schema.$ref.split("/").at(-1) ?? ""]);
    if (schema.allOf !== undefined) {
      const parts = schema.allOf.map((part) => this.plain(part));
      return { ...schema, type: "object", properties: Object.assign({}, ...parts.map(({ properties }) => properties)) };
    }
    const choices = (schema.anyOf ?? schema.oneOf)?.map((one) => this.plain(one)).filter(({ type }) => type !== "null");
    if (choices?.length === 1) return { ...choices[0], ...(schema.description === undefined ? {} : { description: schema.description }) };
    return schema;
  }

  typeOf(from: Schema | undefined): TerraformType {
    const schema = this.plain(from);
    const kinds = [schema.type ?? []].flat().filter((kind) => kind !== "null");
    if (kinds.length === 0) return typeof (schema.const ?? schema.enum?.[0]) === "string" ? "string" : "dynamic";
    if (kinds.length > 1) return "dynamic";
    switch (kinds[0]) {
      case "string":
        return "string";
      case "boolean":
        return "bool";
      case "integer":
      case "number":
        return "number";
      case "array":
        return listOf(this.typeOf(schema.items));
      default:
        return this.objectType(schema);
    }
  }

  private objectType({ properties, additionalProperties }: Schema): TerraformType {
    if (properties !== undefined && Object.keys(properties).length > 0) {
      const members = Object.entries(properties).map(([name, member]) => [name, this.typeOf(member)] as const);
      // One member of dynamic type makes the whole value dynamic.
      return members.some(([, type]) => type === "dynamic") ? "dynamic" : ["object", Object.fromEntries(members)];
    }
    const of = typeof additionalProperties === "object" ? this.typeOf(additionalProperties) : "dynamic";
    return of === "dynamic" ? "dynamic" : ["map", of];
  }

  bodyOf(operation: Operation | undefined): Schema {
    return this.plain(operation?.requestBody?.content["application/json"]?.schema);
  }

  answerOf(operation: Operation | undefined): Schema {
    const [, answer] = Object.entries(operation?.responses ?? {}).find(([status]) => status.startsWith("2")) ?? [];
    const schema = this.plain(answer?.content?.["application/json"]?.schema);
    const [only, ...others] = Object.entries(schema.properties ?? {});
    const inner = only === undefined || others.length > 0 ? null : this.plain(only[1]);
    // Unwraps an answer whose only member is the record.
    return inner?.properties === undefined ? schema : inner;
  }

  /** A record's attributes: members that are sent, read, or both. */
  attributes(sent: Schema, read: Schema): Attributes {
    const names = [...new Set([...Object.keys(sent.properties ?? {}), ...Object.keys(read.properties ?? {})])].sort();
    const attribute = (name: string): Attribute => {
      const from = sent.properties?.[name];
      const to = read.properties?.[name];
      const { description } = this.plain(from ?? to);
      const required = from !== undefined && sent.required?.includes(name) === true;
      return {
        type: this.typeOf(from ?? to),
        ...(description === undefined ? {} : { description }),
        description_kind: "plain",
        ...(required ? { required } : {}),
        ...(from !== undefined && !required ? { optional: true } : {}),
        ...(to !== undefined && !required ? { computed: true } : {}),
        ...(SECRET.test(name) && !name.startsWith("has_") ? { sensitive: true } : {}),
      };
    };
    return Object.fromEntries(names.map((name) => [name, attribute(name)]));
  }
}

const listOf = (of: TerraformType): TerraformType => (of === "dynamic" ? "dynamic" : ["list", of]);

/** The singular of a plural word. */
function singular(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return /[^s]s$/.test(word) && !word.endsWith("limits") ? word.slice(0, -1) : word;
}

const nameOf = (path: string): string =>
  `gatehouse_${path
    .slice(PREFIX.length)
    .split("/")
    .filter((part) => !part.startsWith("{"))
    .map((part) => singular(part.replaceAll("-", "_")))
    .join("_")}`;

/** IDs in the path that identify the parents of a record. */
function parents(path: string): Attributes {
  const ids = [...path.matchAll(/([a-z-]+)\/\{[a-z_]+\}/g)].map(([, owner = ""]) => `${singular(owner.replaceAll("-", "_"))}_id`);
  return Object.fromEntries(ids.map((id) => [id, { type: "string", description_kind: "plain", required: true }]));
}

const block = (attributes: Attributes, description: string) => ({
  version: 0,
  block: { attributes, description, description_kind: "plain" },
});

const given = (attribute: Partial<Attribute>): Attribute => ({ type: "string", description_kind: "plain", ...attribute });

const PROVIDER: Attributes = {
  endpoint: given({ required: true, description: "address of the control plane" }),
  username: given({ optional: true, description: "an administrator's username; GATEHOUSE_USERNAME where left out" }),
  password: given({ optional: true, sensitive: true, description: "GATEHOUSE_PASSWORD where left out" }),
  tenant_id: given({ optional: true, description: "for system administrators: the tenant that is meant" }),
};

/** The text of `docs/reference/terraform-schema.json`. */
export function terraformSchemaText(): string {
  const document = openApiDocument(OPERATIONS, recordRoutes(OPERATIONS)) as unknown as Document;
  const schemas = new Schemas(document);
  const resources: [string, object][] = [];
  const sources: [string, object][] = [];
  for (const [path, { get, post, put, patch, delete: remove }] of Object.entries(document.paths)) {
    if (!path.startsWith(PREFIX)) continue;
    const [one, record] = Object.entries(document.paths).find(([other]) => isOneOf(other, path)) ?? [];
    if (post !== undefined && one !== undefined && record?.get !== undefined) {
      const read = merged(schemas.answerOf(record.get), secretsOf(schemas.answerOf(post)));
      const attributes = { ...schemas.attributes(schemas.bodyOf(post), read), ...parents(path) };
      resources.push([nameOf(path), block(attributes, `${post.summary ?? ""}: POST ${path}, then ${one}`)]);
      const id: Attributes = { id: given({ required: true }) };
      sources.push([nameOf(path), block({ ...schemas.attributes({}, read), ...parents(path), ...id }, `GET ${one}`)]);
      continue;
    }
    if (post !== undefined && get !== undefined && remove !== undefined) {
      const attributes = { ...schemas.attributes(schemas.bodyOf(post), {}), ...parents(path) };
      resources.push([nameOf(path), block(attributes, `${post.summary ?? ""}: POST and DELETE ${path}`)]);
      continue;
    }
    const write = put ?? patch;
    if (post !== undefined || get === undefined || write === undefined || path.endsWith("}") || !path.includes("{")) continue;
    const attributes = { ...schemas.attributes(schemas.bodyOf(write), schemas.answerOf(get)), ...parents(path) };
    resources.push([nameOf(path), block(attributes, `${write.summary ?? ""}: ${put === undefined ? "PATCH" : "PUT"} ${path}`)]);
  }
  const sorted = (entries: [string, object][]) => Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  const provider = { provider: block(PROVIDER, "Gatehouse"), resource_schemas: sorted(resources), data_source_schemas: sorted(sources) };
  return `${JSON.stringify({ format_version: "1.0", provider_schemas: { "gatehouse/gatehouse": provider } }, null, 1)}\n`;
}

/** Whether `other` is the path of a record created at `path`: below it, or identified by its own ID alone. */
function isOneOf(other: string, path: string): boolean {
  const id = other.startsWith(`${path}/`) ? other.slice(path.length + 1) : other.slice(`${PREFIX}${path.split("/").at(-1)}/`.length);
  return /^\{[a-z_]+\}$/.test(id) && (other === `${path}/${id}` || other === `${PREFIX}${path.split("/").at(-1)}/${id}`);
}

/** Members returned only on creation, such as a key or token. */
function secretsOf({ properties }: Schema): Schema {
  return { properties: Object.fromEntries(Object.entries(properties ?? {}).filter(([name]) => SECRET.test(name))) };
}

const merged = (one: Schema, other: Schema): Schema => ({ ...one, properties: { ...other.properties, ...one.properties } });
