/** Span operations (GenAI conventions) that call a model; others, such as an agent's step, are reported too. */
export const INFERENCE_OPERATIONS = ["chat", "generate_content", "text_completion", "embeddings"] as const;
