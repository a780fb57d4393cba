# Completion of syncctl for bash: written by make docs from Sources/syncctl; changes made here are lost.
# shellcheck shell=bash

_syncctl() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
    local options='--config --socket --json --help'
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --budget|--config|--control|--count|--folder|--for|--limit|--listen|--mode|--name|--node|--peer|--socket|--state|--timeout|--to|--version|-n) i=$((i + 1)) ;;
            --) return ;;
            -*) ;;
            *)
                if [ -z "$command" ]; then
                    command=${COMP_WORDS[i]}
                else
                    case "$command ${COMP_WORDS[i]}" in
                        'alerts show'|'alerts ack'|'conflicts list'|'conflicts show'|'conflicts take'|'conflicts discard'|'conflicts restore'|'doc check'|'doc show'|'log verify') command="$command ${COMP_WORDS[i]}" ;;
                    esac
                fi
                ;;
        esac
    done
    case "$command $previous" in
        'wait --for') words='in-sync connected initial-import' ;;
        'lock --mode') words='local pair strict' ;;
        *' '--budget|*' '--config|*' '--control|*' '--count|*' '--folder|*' '--for|*' '--limit|*' '--listen|*' '--mode|*' '--name|*' '--node|*' '--peer|*' '--socket|*' '--state|*' '--timeout|*' '--to|*' '--version|*' '-n) return ;;
        *)
            case $command in
                '') words='init invite join renew-key unpair status wait alerts explain doctor conflicts history restore doc log events metrics lock unlock locks pause resume rescan reload log-level approve reject verify version' options+=' --version' ;;
                'init') words='' options+=' --name --folder --listen --peer --state --control' ;;
                'invite') words='' options+=' --no-wait' ;;
                'join') words='' options+='' ;;
                'renew-key') words='' options+='' ;;
                'unpair') words='' options+=' --forget' ;;
                'status') words='' options+=' --watch' ;;
                'wait') words='' options+=' --for --timeout' ;;
                'alerts') words='show ack' options+=' --all --limit' ;;
                'alerts show') words='' options+='' ;;
                'alerts ack') words='' options+='' ;;
                'explain') words='' options+='' ;;
                'doctor') words='' options+='' ;;
                'conflicts') words='list show take discard restore' options+=' --all --limit' ;;
                'conflicts list') words='' options+=' --all --limit' ;;
                'conflicts show') words='' options+='' ;;
                'conflicts take') words='' options+='' ;;
                'conflicts discard') words='' options+='' ;;
                'conflicts restore') words='' options+='' ;;
                'history') words='' options+=' --limit' ;;
                'restore') words='' options+=' --version --to' ;;
                'doc check') words='' options+=' --all' ;;
                'doc show') words='' options+='' ;;
                'log') words='verify' options+=' --count --follow --node' ;;
                'log verify') words='' options+='' ;;
                'events') words='' options+=' --follow' ;;
                'metrics') words='' options+='' ;;
                'lock') words='' options+=' --read --mode --timeout' ;;
                'unlock') words='' options+='' ;;
                'locks') words='' options+='' ;;
                'pause') words='' options+='' ;;
                'resume') words='' options+='' ;;
                'rescan') words='' options+='' ;;
                'reload') words='' options+='' ;;
                'log-level') words='' options+=' --for' ;;
                'approve') words='' options+='' ;;
                'reject') words='' options+='' ;;
                'verify') words='' options+=' --budget' ;;
                'version') words='' options+='' ;;
                'doc') words='check show' ;;
            esac
            if [[ $current = -* ]]; then words=$options; fi
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

# Where nothing of these is wanted, the name of a file may be.
complete -o default -F _syncctl syncctl
