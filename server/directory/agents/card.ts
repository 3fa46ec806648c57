/** A card as JSON has it. */
export type CardValue = string | number | boolean | null | CardValue[] | Card;
export interface Card {
  [name: string]: CardValue | undefined;
}

export function isCard(value: unknown): value is Card {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects in a member that should be a list of them. */
export const cardsIn = (value: CardValue | undefined): readonly Card[] => (Array.isArray(value) ? value.filter(isCard) : []);
