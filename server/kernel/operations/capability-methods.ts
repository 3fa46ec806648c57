/** MCP methods that use a tool, prompt or resource of a server; the others are protocol overhead. */
export const CAPABILITY_METHODS: readonly string[] = ["tools/call", "prompts/get", "resources/read"];
