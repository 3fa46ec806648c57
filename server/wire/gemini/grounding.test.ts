import { expect, test } from "bun:test";
import { Grounding } from "./grounding.ts";

const MAPS = { maps: { uri: "https://maps.example", title: "A place" } };
const WEB = { web: { uri: "https://page.example", title: "A page" } };

function feesOf(modelVersion: string, ...metadata: object[]) {
  const grounding = new Grounding();
  for (const groundingMetadata of metadata) grounding.read({ modelVersion, candidates: [{ groundingMetadata }] } as never);
  return grounding.fees;
}

test.each([
  [
    "searches, each query of a new model",
    "gemini-3.5-flash",
    [{ webSearchQueries: ["a", "b", "a"], groundingChunks: [WEB] }],
    { webSearches: 2 },
  ],
  ["a search, once for an old model", "gemini-2.5-pro", [{ webSearchQueries: ["a", "b"], groundingChunks: [WEB] }], { webSearches: 1 }],
  ["maps without queries", "gemini-3.5-flash", [{ groundingChunks: [MAPS] }], { toolUses: { google_maps_query: 1 } }],
  [
    "maps whose queries are listed as searches",
    "gemini-3.5-flash",
    [{ webSearchQueries: ["a"] }, { webSearchQueries: ["b"], groundingChunks: [MAPS] }],
    { toolUses: { google_maps_query: 2 } },
  ],
  [
    "maps, once for an old model",
    "gemini-2.5-pro",
    [{ webSearchQueries: ["a", "b"], groundingChunks: [MAPS] }],
    { toolUses: { google_maps: 1 } },
  ],
  [
    "maps and searches",
    "gemini-3.5-flash",
    [{ webSearchQueries: ["a", "b"], groundingChunks: [MAPS, WEB] }],
    { webSearches: 2, toolUses: { google_maps_query: 1 } },
  ],
  [
    "maps, and searches that found nothing",
    "gemini-2.5-pro",
    [{ webSearchQueries: ["a"], searchEntryPoint: { renderedContent: "" }, groundingChunks: [MAPS] }],
    { webSearches: 1, toolUses: { google_maps: 1 } },
  ],
])("the billed grounding of an answer: %s", (_what, model, metadata, fees) => {
  expect(feesOf(model, ...metadata)).toEqual(fees as never);
});
