import { expect, test } from "bun:test";
import { openApiDocument } from "../../server/surfaces/admin/document.ts";
import { recordRoutes } from "../../server/surfaces/admin/record-route.ts";
import { OPERATIONS } from "../../server/surfaces/admin/routes.ts";
import { type ApiDocument, hasOperation } from "../../web/console/src/records/api-schema.ts";
import { recordKind, RECORD_KINDS } from "../../web/console/src/records/record-kinds.ts";

const document = openApiDocument(OPERATIONS, recordRoutes(OPERATIONS)) as unknown as ApiDocument;

test("references of the console's record kinds name existing kinds", () => {
  const unknown = RECORD_KINDS.flatMap(({ slug, references = {} }) =>
    Object.entries(references)
      .filter(([, kind]) => recordKind(kind) === undefined)
      .map(([member, kind]) => `${slug}.${member}: ${kind}`),
  );
  expect(unknown).toEqual([]);
});

test("records that can be created in the console can be changed there", () => {
  const fixed = RECORD_KINDS.filter(
    ({ path, createPath = path }) => hasOperation(document, "POST", createPath) && !hasOperation(document, "PATCH", `${path}/{id}`),
  );
  expect(fixed.map(({ slug }) => slug)).toEqual([]);
});
