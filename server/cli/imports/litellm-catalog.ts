import { isConfigEntry, type ConfigEntry } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import { splitModel, type Deployment } from "./litellm-deployment.ts";

/** What identifies a provider, as far as it determines whose models it serves. */
export interface PlaceOfModels {
  readonly provider_key: string;
  readonly api_format: string;
  readonly base_url: string | null;
}

/** Members of a model's record, including prices, that are known from its name and missing in `given`; null if the model is unknown. */
export type KnownFacts = (place: PlaceOfModels, name: string, given: ConfigEntry) => Promise<object | null>;

/** A deployment and its modes, the main one first. */
export interface PlacedDeployment extends Deployment {
  readonly modes: readonly string[];
}

const PRICE = /cost|(?<!service_tier)_prices$/;

/**
 * Writes a deployment's costs and limits into the file if its provider's name for it is meaningless, as on Azure: those of its
 * `base_model`. All others get theirs from the same catalog when the record is created.
 */
export async function placedByCatalog(deployment: Deployment, known: KnownFacts, into: Imported): Promise<PlacedDeployment> {
  const { model, base, at } = deployment;
  const place = placeOf(deployment, into);
  const ofBase = base === null ? null : await knownBase(base, place, model, known);
  const ofName = ofBase ?? entryOf(await known(place, String(model["model_name"]), model));
  const isPriced = [...Object.keys(model), ...Object.keys(ofName ?? {})].some((member) => PRICE.test(member));
  if (base !== null && ofBase === null && !isPriced) into.note(`${at}.model_info.base_model: "${base}" is not known here`);
  const { description: _, ...facts } = ofBase ?? {};
  const found = { model_name: model["model_name"] ?? null, ...facts, ...model };
  const written = model["modes"] ?? ofName?.["modes"];
  const modes = Array.isArray(written) ? written.map(String) : ["chat"];
  // Moderations are free everywhere.
  if (!isPriced && modes[0] !== "moderation") into.unpriced(deployment.publicName);
  return { ...deployment, model: found, modes };
}

function placeOf({ provider }: Deployment, into: Imported): PlaceOfModels {
  const record = into.find("providers", provider);
  return { provider_key: provider, api_format: String(record?.["api_format"]), base_url: String(record?.["base_url"]) };
}

/** Base models are named like models: `azure/eu/gpt-4o` is Azure's gpt-4o in Europe, and its price here that of gpt-4o. */
async function knownBase(base: string, place: PlaceOfModels, given: ConfigEntry, known: KnownFacts): Promise<ConfigEntry | null> {
  const { prefix, name } = splitModel(base, undefined);
  const plain = name.replace(/^(?:eu|us|global|global-standard)\//, "");
  const maker = { provider_key: prefix.replaceAll("_", "-"), api_format: "openai", base_url: null };
  return entryOf((await known(place, plain, given)) ?? (await known(maker, plain, given)));
}

function entryOf(found: object | null): ConfigEntry | null {
  return isConfigEntry(found) ? found : null;
}
