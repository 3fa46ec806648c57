import { runtimeDocumentText } from "../server/runtime-document.ts";
import { openApiDocument } from "../server/surfaces/admin/document.ts";
import { recordRoutes } from "../server/surfaces/admin/record-route.ts";
import { OPERATIONS } from "../server/surfaces/admin/routes.ts";
import { apiTypes } from "./api-types.ts";

/** The part of the runtime plane's document that the portal's pages use. */
function portalDocument(): object {
  const { paths, ...rest } = JSON.parse(runtimeDocumentText()) as { paths: Record<string, unknown> };
  const own = Object.entries(paths).filter(([path]) => path.startsWith("/v1/portal/"));
  return { ...rest, paths: Object.fromEntries(own) };
}

/** Two modules in a folder: the operations of an API, and the schemas they use. */
function modulesOf(folder: string, file: string, name: string, document: object): (readonly [path: string, text: string])[] {
  const { operations, schemas } = apiTypes(name, `./${file}-schemas.generated.ts`, document);
  return [
    [`${folder}/${file}.generated.ts`, operations],
    [`${folder}/${file}-schemas.generated.ts`, schemas],
  ];
}

/** The API types the apps are written against, by path from the repository root. */
export function apiTypeFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...modulesOf("web/console/src/api", "admin-api", "AdminApi", openApiDocument(OPERATIONS, recordRoutes(OPERATIONS))),
    ...modulesOf("web/portal/src/api", "portal-api", "PortalApi", portalDocument()),
  ]);
}
