/** Each script asks the command for the words: `oriel completion words -- WORDS`. `:files` asks for paths. */
const BASH = `_oriel() {
  local line="\${COMP_LINE:0:COMP_POINT}" words word last begin
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  last="\${words[\${#words[@]}-1]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default 2>/dev/null
      COMPREPLY=()
      return
    fi
    COMPREPLY+=("$word")
  done < <("\${words[0]}" completion words -- "\${words[@]:1}" 2>/dev/null)
  # bash replaces only what follows the last colon.
  if [[ $last == *:* && $COMP_WORDBREAKS == *:* ]]; then
    begin="\${last%"\${last##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$begin"}")
  fi
}
complete -F _oriel oriel
`;

const ZSH = `#compdef oriel
_oriel() {
  local -a lines names
  local line
  lines=("\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    names+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#names )) && _describe oriel names
}
compdef _oriel oriel
`;

const FISH = `function __oriel_words
    set -l tokens (commandline -opc)
    set -l last (commandline -ct)
    for line in ($tokens[1] completion words -- $tokens[2..] "$last" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$last"
        else
            echo $line
        end
    end
end
complete -c oriel -f -a '(__oriel_words)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
