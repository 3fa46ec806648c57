import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";

/** Vertex embeds one text per `:predict` call, the Gemini API takes a batch. Splits a batch into the bodies of these calls. */
export function predictBodies(batch: JsonObject): readonly JsonObject[] {
  return list(batch.requests).map((request) => {
    const { content, taskType, title, outputDimensionality } = isObject(request) ? request : ({} as JsonObject);
    const text = isObject(content)
      ? list(content.parts)
          .map((part) => (isObject(part) && typeof part.text === "string" ? part.text : ""))
          .join("")
      : "";
    const instance: JsonObject = {
      content: text,
      ...(taskType === undefined ? {} : { task_type: taskType }),
      ...(title === undefined ? {} : { title }),
    };
    return { instances: [instance], ...(outputDimensionality === undefined ? {} : { parameters: { outputDimensionality } }) };
  });
}

/** Joins the answers into one of `:batchEmbedContents`; null if one of them is malformed. */
export function batchReply(answers: readonly JsonObject[]): JsonObject | null {
  const embeddings: JsonObject[] = [];
  let promptTokenCount = 0;
  for (const { predictions } of answers) {
    for (const prediction of list(predictions)) {
      const embedding = isObject(prediction) ? prediction.embeddings : undefined;
      if (!isObject(embedding) || !Array.isArray(embedding.values)) return null;
      embeddings.push({ values: embedding.values });
      const { statistics } = embedding;
      if (isObject(statistics) && typeof statistics.token_count === "number") promptTokenCount += statistics.token_count;
    }
  }
  return embeddings.length === 0 ? null : { embeddings, usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount } };
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
