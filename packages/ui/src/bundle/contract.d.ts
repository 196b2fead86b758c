// Separate from the code, so that a package that uses it can be built without it.

/** The contents of a page's `<script>` and `<style>`. */
export interface Bundle {
  readonly script: string
  readonly style: string
}

/**
 * Bundles a page's script and style sheet, with the licences of the libraries in them.
 *
 * @param script path of the script's first module
 * @param style path of the style sheet
 */
export declare function bundle(script: string, style: string): Bundle
