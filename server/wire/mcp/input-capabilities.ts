/** What a client says that it can be asked for, by the request that asks for it. */
export const INPUT_CAPABILITY: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};
