import { catalogEntry, catalogImport, catalogQuery } from "@gatehouse/contracts/catalog";
import { listOf } from "@gatehouse/contracts/conventions";
import { model } from "@gatehouse/contracts/models";
import { findCatalogEntry as readEntry, listCatalog } from "../../../directory/models/catalog/catalog.ts";
import { importCatalogEntry } from "../../../directory/models/catalog/import.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { listed } from "../resource.ts";

const PATH = "/v1/admin/llm-catalog";
const ONE = `${PATH}/{catalog_id}`;
const tag = "Model catalog";
const textParams = ["catalog_id"];

const nowOf = (call: { readonly services: { readonly directory: { readonly clock: { now(): number } } } }) =>
  new Date(call.services.directory.clock.now());

export const catalogOperations: readonly AdminOperation[] = [
  operation({
    tag,
    access: "models:read",
    reach: "any",
    method: "GET",
    path: PATH,
    summary: "List the model catalog",
    description:
      "The models of known providers with current prices, the same for all tenants. A null price is unpriced, a null flag unknown.",
    query: catalogQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("entries", catalogEntry) },
    run: (call) => listed("entries", call, (page) => listCatalog(call.query, page, nowOf(call))),
  }),
  operation({
    tag,
    access: "models:read",
    reach: "any",
    method: "GET",
    path: ONE,
    summary: "Read a catalog entry",
    textParams,
    answer: { status: 200, about: "The entry", schema: catalogEntry },
    run: (call) => readEntry(call.params.catalog_id ?? "", nowOf(call)),
  }),
  operation({
    tag,
    access: "models:write",
    reach: "one",
    method: "POST",
    path: `${ONE}/import`,
    summary: "Import a catalog entry as a model",
    description:
      "The model gets the entry's prices and facts. If the tenant has no record of its provider, one is created without a key; set " +
      "the key there or on the model.",
    textParams,
    body: catalogImport,
    answer: { status: 201, about: "The model made", schema: model },
    run: (call) => call.write((write) => importCatalogEntry(write, call.tenantId, call.params.catalog_id ?? "", call.body)),
  }),
];
