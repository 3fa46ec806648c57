/** Operations of spans (GenAI conventions) that ask a model: what is around them, such as an agent's step, is told as well. */
export const INFERENCE_OPERATIONS = ["chat", "generate_content", "text_completion", "embeddings"] as const;
