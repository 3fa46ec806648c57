import type { FieldProblem } from "../json/document.ts";

/** What the reading of a request for another format has to say about it beside the conversation. */
export class ReadReport {
  readonly unsupported: FieldProblem[] = [];
  private readonly droppedNames = new Set<string>();

  refuse(field: string, message: string): void {
    this.unsupported.push({ field, message });
  }

  drop(field: string): void {
    this.droppedNames.add(field);
  }

  get dropped(): string[] {
    return [...this.droppedNames];
  }
}

/** Every part of a message this format has and others do not is refused in these words. */
export const NOT_ELSEWHERE = "has no equal in the format of this model's provider";
