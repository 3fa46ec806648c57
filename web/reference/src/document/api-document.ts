/** The subset of OpenAPI 3.1 that the gateway's documents use. */
export interface DocumentSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, DocumentSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: DocumentSchema | boolean;
  readonly items?: DocumentSchema;
  readonly anyOf?: readonly DocumentSchema[];
  readonly oneOf?: readonly DocumentSchema[];
}

export interface DocumentParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: DocumentSchema;
}

interface DocumentContent {
  readonly [media: string]: { readonly schema?: DocumentSchema };
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly "x-access"?: string;
  /** Overrides the document's security; empty if no authentication is needed. */
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly DocumentParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: DocumentContent };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: DocumentContent }>>;
}

export interface PlaneDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, DocumentSchema>> };
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly group: string;
  readonly about: DocumentedOperation;
}

/** Operations shown together: those for applications, for the portal's pages, or for administrators. */
export interface ApiArea {
  readonly slug: "runtime" | "portal" | "admin";
  readonly title: string;
  readonly operations: readonly Operation[];
}

const PORTAL = "/v1/portal/";

/** All portal operations have one tag, so they are grouped by path. */
function groupOf(path: string, { tags }: DocumentedOperation): string {
  if (!path.startsWith(PORTAL)) return tags[0] ?? "";
  const [first = ""] = path.slice(PORTAL.length).split("/");
  return (first.charAt(0).toUpperCase() + first.slice(1)).replaceAll("-", " ");
}

export function areasOf(document: PlaneDocument): readonly ApiArea[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]): Operation => {
      return { id: about.operationId, method: method.toUpperCase(), path, group: groupOf(path, about), about };
    }),
  );
  if (all.some(({ path }) => path.startsWith("/v1/admin/"))) return [{ slug: "admin", title: "Admin API", operations: all }];
  const portal = all.filter(({ path }) => path.startsWith(PORTAL));
  return [
    { slug: "runtime", title: "Runtime API", operations: all.filter((one) => !portal.includes(one)) },
    { slug: "portal", title: "Portal API", operations: portal },
  ];
}

/** In document order. */
export function groupedOperations(
  operations: readonly Operation[],
): readonly (readonly [group: string, operations: readonly Operation[]])[] {
  return [...Map.groupBy(operations, ({ group }) => group)];
}

/** Whether the operation needs authentication. */
export const asksWho = ({ about }: Operation): boolean => about.security === undefined || about.security.length > 0;
