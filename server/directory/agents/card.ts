import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** An agent's card as parsed JSON. */
export type Card = JsonObject;

/** The objects in a member that should be a list of objects; anything else is skipped. */
export const cardsIn = (value: JsonValue | undefined): readonly Card[] => (Array.isArray(value) ? value.filter(isObject) : []);
