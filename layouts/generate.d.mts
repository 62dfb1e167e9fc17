export interface Layout {
  constants?: Record<string, number | string>;
  enums?: Record<string, Record<string, number | string>>;
  records?: Record<string, [name: string, type: string, lua?: string][]>;
}

export const layouts: Record<string, Layout>;
export function layoutModule(layout: Layout): string;
export function layoutLocals(room: string): string;
export function withNamedFields(text: string, rooms: string[]): string;
