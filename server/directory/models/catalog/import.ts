import type { CatalogImport } from "@gatehouse/contracts/catalog";
import type { Model } from "@gatehouse/contracts/models";
import type { Write } from "../../writes/write.ts";
import { models } from "../models.ts";
import { findCatalogEntry } from "./catalog.ts";
import { filledFrom } from "./fill.ts";

/** Creates a model from a catalog entry, with its prices, and the provider's record if the tenant has none. */
export async function importCatalogEntry(write: Write, tenantId: string, catalogId: string, body: CatalogImport): Promise<Model> {
  const entry = await findCatalogEntry(catalogId, write.now);
  return models.create(
    write,
    tenantId,
    filledFrom(entry, { ...body, name: body.name ?? entry.model_name, model_name: entry.model_name, provider: entry.provider_key }),
  );
}
