/** Methods of MCP that use a tool, prompt or resource of a server: the others are the protocol's own business. */
export const CAPABILITY_METHODS: readonly string[] = ["tools/call", "prompts/get", "resources/read"];
